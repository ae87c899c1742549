// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Why a handshake failed, in words.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "identity.h"
#include "reason.h"
#include "tls.h"

#define CHAIN_MAX	16	/* certificates of a peer that are looked at */
#define NOTHING_IN_COMMON	"the peer has no cipher of TLS 1.3 in common with us: does it " \
				"speak TLS 1.3?"
#define NAME_SHOWN	200	/* bytes of each name in a sentence */

static gnutls_x509_crt_t import(const gnutls_datum_t *der)
{
	gnutls_x509_crt_t crt;

	if (gnutls_x509_crt_init(&crt))
		return NULL;
	if (!gnutls_x509_crt_import(crt, der, GNUTLS_X509_FMT_DER))
		return crt;
	gnutls_x509_crt_deinit(crt);
	return NULL;
}

gnutls_x509_crt_t reason_peer_crt(gnutls_session_t session)
{
	unsigned int nr = 0;
	const gnutls_datum_t *der = gnutls_certificate_get_peers(session, &nr);

	return der && nr ? import(&der[0]) : NULL;
}

static void write_day(time_t t, char buf[16])
{
	struct tm tm;

	if (!gmtime_r(&t, &tm) || !strftime(buf, 16, "%Y-%m-%d", &tm))
		snprintf(buf, 16, "?");
}

/*
 * Finds what is out of its time: the first certificate of the chain. @expired: or not valid yet.
 */
static void say_time(const struct handshake *h, bool expired, char *text, size_t size)
{
	unsigned int nr = 0, i;
	const gnutls_datum_t *der = gnutls_certificate_get_peers(h->session, &nr);
	time_t now = time(NULL), t;
	gnutls_x509_crt_t crt;
	char day[16];

	for (i = 0; der && i < nr && i < CHAIN_MAX; i++) {
		crt = import(&der[i]);
		if (!crt)
			continue;
		t = expired ? gnutls_x509_crt_get_expiration_time(crt) :
			      gnutls_x509_crt_get_activation_time(crt);
		gnutls_x509_crt_deinit(crt);
		if (expired ? t >= now : t <= now)
			continue;
		write_day(t, day);
		snprintf(text, size, "%s %s (%s)", i ? "its issuer's certificate" : "it",
			 expired ? "has expired" : "is not valid yet", day);
		return;
	}
	snprintf(text, size, "a certificate that it depends on %s",
		 expired ? "has expired" : "is not valid yet");
}

static void say_owner(const struct handshake *h, char *text, size_t size)
{
	gnutls_x509_crt_t crt = reason_peer_crt(h->session);
	char name[MRPC_IDENTITY_LEN] = "";

	if (crt) {
		identity_of(crt, name);
		gnutls_x509_crt_deinit(crt);
	}
	snprintf(text, size, "it is for '%.*s', not for '%.*s'", NAME_SHOWN, name, NAME_SHOWN,
		 h->name);
}

static void say_status(const struct handshake *h, unsigned int status, char *text, size_t size)
{
	const char *ca = h->tls->files.ca;
	gnutls_datum_t all;

	if (status & GNUTLS_CERT_EXPIRED) {
		say_time(h, true, text, size);
	} else if (status & GNUTLS_CERT_NOT_ACTIVATED) {
		say_time(h, false, text, size);
	} else if (status & GNUTLS_CERT_SIGNER_NOT_FOUND) {
		snprintf(text, size, "its issuer is not known (%s%s)",
			 ca ? "CA file " : "CAs of the system", ca ? ca : "");
	} else if (status & GNUTLS_CERT_UNEXPECTED_OWNER) {
		say_owner(h, text, size);
	} else if (status & GNUTLS_CERT_PURPOSE_MISMATCH) {
		snprintf(text, size, "it is not made for a %s",
			 h->tls->base.server ? "client" : "server");
	} else if (gnutls_certificate_verification_status_print(status, GNUTLS_CRT_X509, &all, 0)) {
		snprintf(text, size, "status %#x", status);
	} else {
		snprintf(text, size, "%s", all.data);
		gnutls_free(all.data);
	}
}

static int say_certificate(struct handshake *h)
{
	unsigned int status = gnutls_session_get_verify_cert_status(h->session);
	char text[SECURE_WHY - 64];

	say_status(h, status, text, sizeof(text));
	snprintf(h->base.why, sizeof(h->base.why), "the %s's certificate is not valid: %s",
		 h->tls->base.server ? "client" : "server", text);
	return -EKEYREJECTED;
}

/* What an alert says of this side's certificate; NULL: nothing. */
static const char *of_certificate(gnutls_alert_description_t alert)
{
	switch (alert) {
	case GNUTLS_A_BAD_CERTIFICATE:
		return "it is not valid, or it is for another name";
	case GNUTLS_A_UNSUPPORTED_CERTIFICATE:
		return "the peer does not use its kind";
	case GNUTLS_A_CERTIFICATE_REVOKED:
		return "it is revoked";
	case GNUTLS_A_CERTIFICATE_EXPIRED:
		return "it has expired, or is not valid yet";
	case GNUTLS_A_CERTIFICATE_UNKNOWN:
		return "the peer does not say why";
	case GNUTLS_A_UNKNOWN_CA:
		return "its issuer is not known there";
	case GNUTLS_A_CERTIFICATE_REQUIRED:
		return "certificate required";
	default:
		return NULL;
	}
}

static int say_alert(struct handshake *h)
{
	gnutls_alert_description_t alert = gnutls_alert_get(h->session);
	const char *of = of_certificate(alert), *name = gnutls_alert_get_name(alert);
	size_t size = sizeof(h->base.why);

	if (of) {
		snprintf(h->base.why, size, "the peer refused our certificate: %s", of);
		return -EKEYREJECTED;
	}
	if (alert == GNUTLS_A_PROTOCOL_VERSION)
		snprintf(h->base.why, size, "the peer does not speak TLS 1.3");
	else if (alert == GNUTLS_A_HANDSHAKE_FAILURE)
		snprintf(h->base.why, size, NOTHING_IN_COMMON);
	else if (alert == GNUTLS_A_NO_APPLICATION_PROTOCOL)
		snprintf(h->base.why, size,
			 "the peer speaks TLS, but not for the protocol %s (ALPN)", h->protocol);
	else
		snprintf(h->base.why, size, "the peer refused the TLS handshake: %s",
			 name ? name : "unknown alert");
	return -EPROTO;
}

/* What is not of the peer's certificate. Return: -errno. */
static int say_other(struct handshake *h, int ret)
{
	const char *client = h->tls->base.server ? "client" : "server";
	size_t size = sizeof(h->base.why);

	switch (ret) {
	case GNUTLS_E_PREMATURE_TERMINATION:
	case GNUTLS_E_PULL_ERROR:
	case GNUTLS_E_PUSH_ERROR:
		snprintf(h->base.why, size, h->heard ? "the peer ended the TLS handshake" :
			 "the peer ended the connection at the TLS handshake: does it speak TLS?");
		return -ECONNRESET;
	case GNUTLS_E_UNSUPPORTED_VERSION_PACKET:
		snprintf(h->base.why, size, "the peer does not speak TLS 1.3");
		break;
	case GNUTLS_E_UNKNOWN_CIPHER_SUITE:
	case GNUTLS_E_NO_CIPHER_SUITES:
		snprintf(h->base.why, size, NOTHING_IN_COMMON);
		break;
	case GNUTLS_E_NO_APPLICATION_PROTOCOL:
		snprintf(h->base.why, size, "the %s does not name the protocol %s (ALPN)", client,
			 h->protocol);
		break;
	case GNUTLS_E_CERTIFICATE_REQUIRED:
	case GNUTLS_E_NO_CERTIFICATE_FOUND:
		snprintf(h->base.why, size, "the %s has no certificate", client);
		return -EKEYREJECTED;
	case GNUTLS_E_MEMORY_ERROR:
		snprintf(h->base.why, size, "out of memory");
		return -ENOMEM;
	default:
		snprintf(h->base.why, size, "the TLS handshake failed: %s", gnutls_strerror(ret));
	}
	return -EPROTO;
}

/* The alert for what say_status() says. */
static gnutls_alert_description_t alert_of(unsigned int status)
{
	if (status & (GNUTLS_CERT_EXPIRED | GNUTLS_CERT_NOT_ACTIVATED))
		return GNUTLS_A_CERTIFICATE_EXPIRED;
	if (status & GNUTLS_CERT_SIGNER_NOT_FOUND)
		return GNUTLS_A_UNKNOWN_CA;
	return GNUTLS_A_BAD_CERTIFICATE;
}

/* The peer is told what it cannot know: not of its own alert, and not over a broken connection. */
static void tell_peer(struct handshake *h, int ret)
{
	switch (ret) {
	case GNUTLS_E_FATAL_ALERT_RECEIVED:
	case GNUTLS_E_WARNING_ALERT_RECEIVED:
	case GNUTLS_E_PREMATURE_TERMINATION:
	case GNUTLS_E_PULL_ERROR:
	case GNUTLS_E_PUSH_ERROR:
		return;
	case GNUTLS_E_CERTIFICATE_VERIFICATION_ERROR:
		gnutls_alert_send(h->session, GNUTLS_AL_FATAL,
				  alert_of(gnutls_session_get_verify_cert_status(h->session)));
		return;
	default:
		gnutls_alert_send_appropriate(h->session, ret);
	}
}

int reason_fail(struct handshake *h, int ret)
{
	tell_peer(h, ret);
	if (h->plain) {
		snprintf(h->base.why, sizeof(h->base.why), "the peer does not speak TLS");
		return -EPROTO;
	}
	if (ret == GNUTLS_E_CERTIFICATE_VERIFICATION_ERROR)
		return say_certificate(h);
	if (ret == GNUTLS_E_FATAL_ALERT_RECEIVED || ret == GNUTLS_E_WARNING_ALERT_RECEIVED)
		return say_alert(h);
	return say_other(h, ret);
}
