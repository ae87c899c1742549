# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Hosts for tests of groups, which are network namespaces.

# Four hosts at a switch: h0 to h3, 10.1.0.1 to 10.1.0.4.
hosts()
{
	local i
	ip link add switch type bridge
	on_exit ip link delete switch
	ip link set switch up
	for i in 0 1 2 3; do
		ip netns add h$i
		on_exit ip netns delete h$i
		ip link add eth0 netns h$i type veth peer name port$i
		ip link set port$i master switch up
		ip -n h$i address add 10.1.0.$((i + 1))/24 dev eth0
		ip -n h$i link set lo up
		ip -n h$i link set eth0 up
	done
}
