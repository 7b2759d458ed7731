# SPDX-License-Identifier: BSD-3-Clause
# A part of a library: functions of four unwinding rows each, ROWS in all.
	.text
	.rept	ROWS / 4
	.cfi_startproc
	nop
	.cfi_adjust_cfa_offset 8
	nop
	.cfi_adjust_cfa_offset 8
	nop
	.cfi_adjust_cfa_offset 8
	ret
	.cfi_endproc
	.endr
	.section .note.GNU-stack, "", @progbits
