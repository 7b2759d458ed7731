# SPDX-License-Identifier: BSD-3-Clause
"""What `make bench` measures, one module per part; ../run starts them."""
