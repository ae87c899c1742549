// SPDX-License-Identifier: GPL-2.0
/* mrpc metrics: transports. What they count is called as they call it, in a label. */
#include <json-c/json.h>
#include <linux/mrpc_netlink.h>

#include "metrics/text.h"
#include "metrics/transport.h"
#include "nl/nl.h"
#include "nl/sets.h"
#include "show/json.h"

static const struct label info_labels[] = {
	{ "transport", "name" }, { "version", "version" }, { "module", "module" }, { }
};

static const struct family info[] = {
	INFO("mrpc_transport", "What a transport is that is loaded; always 1."), { }
};

static const struct label transport_labels[] = {
	{ "transport", "name" }, { "version", "version" }, { }
};

static const struct family transport_families[] = {
	GAUGE("mrpc_transport_module_references", "references",
	      "References to the transport's module, of the whole host."),
	{ }
};

static const struct label name_labels[] = {
	{ "transport", "of.name" }, { "version", "of.version" }, { "name", "name" }, { }
};

static const struct label reason_labels[] = {
	{ "transport", "of.name" }, { "version", "of.version" }, { "reason", "name" }, { }
};

static const struct family counter_families[] = {
	COUNTER("mrpc_transport_events", "value", "What the transport counts."), { }
};

static const struct family drop_families[] = {
	COUNTER("mrpc_transport_dropped_packets", "value",
		"Packets that had no effect, or parts of them."),
	{ }
};

static const struct family gauge_families[] = {
	GAUGE("mrpc_transport_state", "value", "What the transport has at this moment."), { }
};

static const struct family setting_families[] = {
	GAUGE("mrpc_transport_setting", "value", "How the transport is set."), { }
};

static void print_entries(FILE *out, const struct family *families, const struct label *labels,
			  struct json_object *transports, const char *key)
{
	struct json_object *entries = entries_of(transports, key);

	print_families(out, families, labels, entries);
	json_object_put(entries);
}

/* print_transports() - those that are loaded, and what they know of this network namespace */
void print_transports(FILE *out)
{
	struct json_object *array = ask_all(MRPC_CMD_TRANSPORT_GET, &set_transport, NULL);

	print_families(out, info, info_labels, array);
	print_families(out, transport_families, transport_labels, array);
	print_entries(out, counter_families, name_labels, array, "counters");
	print_entries(out, drop_families, reason_labels, array, "drops");
	print_entries(out, gauge_families, name_labels, array, "gauges");
	print_entries(out, setting_families, name_labels, array, "settings");
	json_object_put(array);
}
