// SPDX-License-Identifier: GPL-2.0
/*
 * Names that something else has. The lists are written down, not taken from the headers of
 * the host that builds mrpcc: the same .proto gives the same C everywhere. A test compares
 * them with what the headers of this host have.
 */
#include <stdlib.h>
#include <string.h>

#include "reserved.h"
#include "lib/ds/types.h"

/* Of C (to C23) and C++ (to C++20), and macros of gcc's default mode. Lists are sorted. */
static const char *const words[] = {
	"I", "_Alignas", "_Alignof", "_Atomic", "_Bool", "_Complex", "_Generic",
	"_Imaginary", "_Noreturn", "_Static_assert", "_Thread_local", "alignas", "alignof",
	"and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch",
	"char", "char16_t", "char32_t", "char8_t", "class", "co_await", "co_return",
	"co_yield", "compl", "complex", "concept", "const", "const_cast", "consteval",
	"constexpr", "constinit", "continue", "decltype", "default", "delete", "do",
	"double", "dynamic_cast", "else", "enum", "explicit", "export", "extern", "false",
	"float", "for", "friend", "goto", "i386", "if", "imaginary", "inline", "int",
	"linux", "long", "mutable", "namespace", "new", "noexcept", "noreturn", "not",
	"not_eq", "nullptr", "operator", "or", "or_eq", "private", "protected", "public",
	"register", "reinterpret_cast", "requires", "restrict", "return", "short", "signed",
	"sizeof", "static", "static_assert", "static_cast", "struct", "switch", "template",
	"this", "thread_local", "throw", "true", "try", "typedef", "typeid", "typename",
	"typeof", "typeof_unqual", "union", "unix", "unsigned", "using", "virtual", "void",
	"volatile", "wchar_t", "while", "xor", "xor_eq",
};

/*
 * Macros of the headers that generated code includes, of <limits.h>, <stdio.h> and
 * <stdlib.h>, which nearly every program includes before it, and the known ones of
 * <signal.h> and <time.h>.
 */
static const char *const macros[] = {
	"AIO_PRIO_DELTA_MAX", "BC_BASE_MAX", "BC_DIM_MAX", "BC_SCALE_MAX", "BC_STRING_MAX",
	"BIG_ENDIAN", "BOOL_MAX", "BOOL_WIDTH", "BUFSIZ", "BYTE_ORDER", "CHARCLASS_NAME_MAX",
	"CHAR_BIT", "CHAR_MAX", "CHAR_MIN", "CHAR_WIDTH", "CLOCKS_PER_SEC", "CLOCK_BOOTTIME",
	"CLOCK_BOOTTIME_ALARM", "CLOCK_MONOTONIC", "CLOCK_MONOTONIC_COARSE",
	"CLOCK_MONOTONIC_RAW", "CLOCK_PROCESS_CPUTIME_ID", "CLOCK_REALTIME",
	"CLOCK_REALTIME_ALARM", "CLOCK_REALTIME_COARSE", "CLOCK_TAI",
	"CLOCK_THREAD_CPUTIME_ID", "COLL_WEIGHTS_MAX", "DELAYTIMER_MAX", "E2BIG", "EACCES",
	"EADDRINUSE", "EADDRNOTAVAIL", "EADV", "EAFNOSUPPORT", "EAGAIN", "EALREADY", "EBADE",
	"EBADF", "EBADFD", "EBADMSG", "EBADR", "EBADRQC", "EBADSLT", "EBFONT", "EBUSY",
	"ECANCELED", "ECHILD", "ECHRNG", "ECOMM", "ECONNABORTED", "ECONNREFUSED",
	"ECONNRESET", "EDEADLK", "EDEADLOCK", "EDESTADDRREQ", "EDOM", "EDOTDOT", "EDQUOT",
	"EEXIST", "EFAULT", "EFBIG", "EHOSTDOWN", "EHOSTUNREACH", "EHWPOISON", "EIDRM",
	"EILSEQ", "EINPROGRESS", "EINTR", "EINVAL", "EIO", "EISCONN", "EISDIR", "EISNAM",
	"EKEYEXPIRED", "EKEYREJECTED", "EKEYREVOKED", "EL2HLT", "EL2NSYNC", "EL3HLT",
	"EL3RST", "ELIBACC", "ELIBBAD", "ELIBEXEC", "ELIBMAX", "ELIBSCN", "ELNRNG", "ELOOP",
	"EMEDIUMTYPE", "EMFILE", "EMLINK", "EMSGSIZE", "EMULTIHOP", "ENAMETOOLONG",
	"ENAVAIL", "ENETDOWN", "ENETRESET", "ENETUNREACH", "ENFILE", "ENOANO", "ENOBUFS",
	"ENOCSI", "ENODATA", "ENODEV", "ENOENT", "ENOEXEC", "ENOKEY", "ENOLCK", "ENOLINK",
	"ENOMEDIUM", "ENOMEM", "ENOMSG", "ENONET", "ENOPKG", "ENOPROTOOPT", "ENOSPC",
	"ENOSR", "ENOSTR", "ENOSYS", "ENOTBLK", "ENOTCONN", "ENOTDIR", "ENOTEMPTY",
	"ENOTNAM", "ENOTRECOVERABLE", "ENOTSOCK", "ENOTSUP", "ENOTTY", "ENOTUNIQ", "ENXIO",
	"EOF", "EOPNOTSUPP", "EOVERFLOW", "EOWNERDEAD", "EPERM", "EPFNOSUPPORT", "EPIPE",
	"EPROTO", "EPROTONOSUPPORT", "EPROTOTYPE", "ERANGE", "EREMCHG", "EREMOTE",
	"EREMOTEIO", "ERESTART", "ERFKILL", "EROFS", "ESHUTDOWN", "ESOCKTNOSUPPORT",
	"ESPIPE", "ESRCH", "ESRMNT", "ESTALE", "ESTRPIPE", "ETIME", "ETIMEDOUT",
	"ETOOMANYREFS", "ETXTBSY", "EUCLEAN", "EUNATCH", "EUSERS", "EWOULDBLOCK", "EXDEV",
	"EXFULL", "EXIT_FAILURE", "EXIT_SUCCESS", "EXPR_NEST_MAX", "FD_CLR", "FD_ISSET",
	"FD_SET", "FD_SETSIZE", "FD_ZERO", "FILENAME_MAX", "FOPEN_MAX", "HOST_NAME_MAX",
	"INT16_C", "INT16_MAX", "INT16_MIN", "INT16_WIDTH", "INT32_C", "INT32_MAX",
	"INT32_MIN", "INT32_WIDTH", "INT64_C", "INT64_MAX", "INT64_MIN", "INT64_WIDTH",
	"INT8_C", "INT8_MAX", "INT8_MIN", "INT8_WIDTH", "INTMAX_C", "INTMAX_MAX",
	"INTMAX_MIN", "INTMAX_WIDTH", "INTPTR_MAX", "INTPTR_MIN", "INTPTR_WIDTH",
	"INT_FAST16_MAX", "INT_FAST16_MIN", "INT_FAST16_WIDTH", "INT_FAST32_MAX",
	"INT_FAST32_MIN", "INT_FAST32_WIDTH", "INT_FAST64_MAX", "INT_FAST64_MIN",
	"INT_FAST64_WIDTH", "INT_FAST8_MAX", "INT_FAST8_MIN", "INT_FAST8_WIDTH",
	"INT_LEAST16_MAX", "INT_LEAST16_MIN", "INT_LEAST16_WIDTH", "INT_LEAST32_MAX",
	"INT_LEAST32_MIN", "INT_LEAST32_WIDTH", "INT_LEAST64_MAX", "INT_LEAST64_MIN",
	"INT_LEAST64_WIDTH", "INT_LEAST8_MAX", "INT_LEAST8_MIN", "INT_LEAST8_WIDTH",
	"INT_MAX", "INT_MIN", "INT_WIDTH", "IOCSIZE_MASK", "IOCSIZE_SHIFT", "IOC_IN",
	"IOC_INOUT", "IOC_OUT", "IOV_MAX", "LINE_MAX", "LITTLE_ENDIAN", "LLONG_MAX",
	"LLONG_MIN", "LLONG_WIDTH", "LOGIN_NAME_MAX", "LONG_BIT", "LONG_LONG_MAX",
	"LONG_LONG_MIN", "LONG_MAX", "LONG_MIN", "LONG_WIDTH", "L_ctermid", "L_cuserid",
	"L_tmpnam", "MAX_CANON", "MAX_INPUT", "MB_CUR_MAX", "MB_LEN_MAX", "MINSIGSTKSZ",
	"MQ_PRIO_MAX", "NAME_MAX", "NFDBITS", "NGROUPS_MAX", "NL_ARGMAX", "NL_LANGMAX",
	"NL_MSGMAX", "NL_NMAX", "NL_SETMAX", "NL_TEXTMAX", "NSIG", "NULL", "NZERO",
	"PATH_MAX", "PDP_ENDIAN", "PIPE_BUF", "PTHREAD_DESTRUCTOR_ITERATIONS",
	"PTHREAD_KEYS_MAX", "PTHREAD_STACK_MIN", "PTRDIFF_MAX", "PTRDIFF_MIN",
	"PTRDIFF_WIDTH", "P_tmpdir", "RAND_MAX", "RENAME_EXCHANGE", "RENAME_NOREPLACE",
	"RENAME_WHITEOUT", "RE_DUP_MAX", "RTSIG_MAX", "R_OK", "SCHAR_MAX", "SCHAR_MIN",
	"SCHAR_WIDTH", "SEEK_CUR", "SEEK_DATA", "SEEK_END", "SEEK_HOLE", "SEEK_SET",
	"SEM_VALUE_MAX", "SHRT_MAX", "SHRT_MIN", "SHRT_WIDTH", "SIGABRT", "SIGALRM",
	"SIGBUS", "SIGCHLD", "SIGCLD", "SIGCONT", "SIGFPE", "SIGHUP", "SIGILL", "SIGINT",
	"SIGIO", "SIGIOT", "SIGKILL", "SIGPIPE", "SIGPOLL", "SIGPROF", "SIGPWR", "SIGQUIT",
	"SIGRTMAX", "SIGRTMIN", "SIGSEGV", "SIGSTKFLT", "SIGSTKSZ", "SIGSTOP", "SIGSYS",
	"SIGTERM", "SIGTRAP", "SIGTSTP", "SIGTTIN", "SIGTTOU", "SIGURG", "SIGUSR1",
	"SIGUSR2", "SIGVTALRM", "SIGWINCH", "SIGXCPU", "SIGXFSZ", "SIG_ATOMIC_MAX",
	"SIG_ATOMIC_MIN", "SIG_ATOMIC_WIDTH", "SIG_BLOCK", "SIG_DFL", "SIG_ERR", "SIG_HOLD",
	"SIG_IGN", "SIG_SETMASK", "SIG_UNBLOCK", "SIZE_MAX", "SIZE_WIDTH", "SSIZE_MAX",
	"STDERR_FILENO", "STDIN_FILENO", "STDOUT_FILENO", "TEMP_FAILURE_RETRY",
	"TIMER_ABSTIME", "TIME_UTC", "TMP_MAX", "TTY_NAME_MAX", "UCHAR_MAX", "UCHAR_WIDTH",
	"UINT16_C", "UINT16_MAX", "UINT16_WIDTH", "UINT32_C", "UINT32_MAX", "UINT32_WIDTH",
	"UINT64_C", "UINT64_MAX", "UINT64_WIDTH", "UINT8_C", "UINT8_MAX", "UINT8_WIDTH",
	"UINTMAX_C", "UINTMAX_MAX", "UINTMAX_WIDTH", "UINTPTR_MAX", "UINTPTR_WIDTH",
	"UINT_FAST16_MAX", "UINT_FAST16_WIDTH", "UINT_FAST32_MAX", "UINT_FAST32_WIDTH",
	"UINT_FAST64_MAX", "UINT_FAST64_WIDTH", "UINT_FAST8_MAX", "UINT_FAST8_WIDTH",
	"UINT_LEAST16_MAX", "UINT_LEAST16_WIDTH", "UINT_LEAST32_MAX", "UINT_LEAST32_WIDTH",
	"UINT_LEAST64_MAX", "UINT_LEAST64_WIDTH", "UINT_LEAST8_MAX", "UINT_LEAST8_WIDTH",
	"UINT_MAX", "UINT_WIDTH", "ULLONG_MAX", "ULLONG_WIDTH", "ULONG_LONG_MAX",
	"ULONG_MAX", "ULONG_WIDTH", "USHRT_MAX", "USHRT_WIDTH", "WCHAR_MAX", "WCHAR_MIN",
	"WCHAR_WIDTH", "WCONTINUED", "WEXITED", "WEXITSTATUS", "WIFCONTINUED", "WIFEXITED",
	"WIFSIGNALED", "WIFSTOPPED", "WINT_MAX", "WINT_MIN", "WINT_WIDTH", "WNOHANG",
	"WNOWAIT", "WORD_BIT", "WSTOPPED", "WSTOPSIG", "WTERMSIG", "WUNTRACED", "W_OK",
	"XATTR_LIST_MAX", "XATTR_NAME_MAX", "XATTR_SIZE_MAX", "X_OK", "alloca", "assert",
	"assert_perror", "be16toh", "be32toh", "be64toh", "errno", "htobe16", "htobe32",
	"htobe64", "htole16", "htole32", "htole64", "le16toh", "le32toh", "le64toh",
	"offsetof", "stderr", "stdin", "stdout", "strdupa", "strndupa",
};

/* What the headers that generated code includes declare. */
static const char *const declared[] = {
	"basename", "bcmp", "bcopy", "bzero", "error_t", "explicit_bzero", "ffs", "ffsl",
	"ffsll", "index", "int16_t", "int32_t", "int64_t", "int8_t", "int_fast16_t",
	"int_fast32_t", "int_fast64_t", "int_fast8_t", "int_least16_t", "int_least32_t",
	"int_least64_t", "int_least8_t", "intmax_t", "intptr_t", "locale_t", "max_align_t",
	"memccpy", "memchr", "memcmp", "memcpy", "memfrob", "memmem", "memmove", "mempcpy",
	"memrchr", "memset", "nullptr_t", "program_invocation_name", "program_invocation_short_name",
	"ptrdiff_t", "rawmemchr", "rindex", "sigabbrev_np", "sigdescr_np", "size_t",
	"stpcpy", "stpncpy", "strcasecmp", "strcasecmp_l", "strcasestr", "strcat", "strchr",
	"strchrnul", "strcmp", "strcoll", "strcoll_l", "strcpy", "strcspn", "strdup",
	"strerror", "strerror_l", "strerror_r", "strerrordesc_np", "strerrorname_np",
	"strfry", "strlen", "strncasecmp", "strncasecmp_l", "strncat", "strncmp", "strncpy",
	"strndup", "strnlen", "strpbrk", "strrchr", "strsep", "strsignal", "strspn",
	"strstr", "strtok", "strtok_r", "strverscmp", "strxfrm", "strxfrm_l", "uint16_t",
	"uint32_t", "uint64_t", "uint8_t", "uint_fast16_t", "uint_fast32_t", "uint_fast64_t",
	"uint_fast8_t", "uint_least16_t", "uint_least32_t", "uint_least64_t",
	"uint_least8_t", "uintmax_t", "uintptr_t",
};

/* The types of members, which a member of this name would hide from C++. */
static const char *const types[] = {
	"int32_t", "int64_t", "mrpc_call", "mrpc_ref", "uint32_t", "uint64_t",
};

static int compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool is_in(const char *name, const char *const *list, size_t nr)
{
	return bsearch(&name, list, nr, sizeof(*list), compare);
}

/* C leaves these to the compiler and its library. */
static bool has_prefix_of_compiler(const char *name)
{
	return name[0] == '_' && (name[1] == '_' || (name[1] >= 'A' && name[1] <= 'Z'));
}

static bool has_prefix(const char *name, const char *prefix)
{
	size_t len = strlen(prefix);

	return !strncmp(name, prefix, len) && (!name[len] || name[len] == '_');
}

static bool is_word(const char *name)
{
	return is_in(name, words, ARRAY_SIZE(words)) || is_in(name, macros, ARRAY_SIZE(macros));
}

bool reserved_for_members(const char *name)
{
	return has_prefix_of_compiler(name) || has_prefix(name, "MRPC") || is_word(name) ||
	       is_in(name, types, ARRAY_SIZE(types));
}

bool reserved_whole(const char *name)
{
	return is_word(name) || is_in(name, declared, ARRAY_SIZE(declared));
}

bool reserved_as_prefix(const char *name)
{
	return has_prefix_of_compiler(name) || has_prefix(name, "MRPC") ||
	       has_prefix(name, "mrpc") || reserved_whole(name);
}
