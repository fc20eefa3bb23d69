/* Numbers of the standard. https://dwarfstd.org/doc/DWARF5.pdf sections 7.5.3, 7.5.4 and 7.25 */

/** `DW_TAG_*` */
export const Tag = { compileUnit: 0x11, inlinedSubroutine: 0x1d, subprogram: 0x2e, skeletonUnit: 0x4a } as const;

/** `DW_AT_*` */
export const Attribute = {
  name: 0x03,
  lineTable: 0x10,
  lowPc: 0x11,
  highPc: 0x12,
  folder: 0x1b,
  abstractOrigin: 0x31,
  declarationColumn: 0x39,
  declarationFile: 0x3a,
  declarationLine: 0x3b,
  specification: 0x47,
  ranges: 0x55,
  callColumn: 0x57,
  callFile: 0x58,
  callLine: 0x59,
  linkageName: 0x6e,
  textOffsetsBase: 0x72,
  addressBase: 0x73,
  rangeListsBase: 0x74,
  mipsLinkageName: 0x2007,
} as const;

/** `DW_RLE_*` */
export const RangeEntry = {
  end: 0,
  baseIndex: 1,
  startIndexEndIndex: 2,
  startIndexLength: 3,
  offsetPair: 4,
  base: 5,
  startEnd: 6,
  startLength: 7,
} as const;
