import { unsupportedFeature } from '../errors.ts';

/** Attribute forms of DWARF 2 to 5. https://dwarfstd.org/doc/DWARF5.pdf, section 7.5.6 */
export const AttributeForm = {
  addr: 0x01,
  block2: 0x03,
  block4: 0x04,
  data2: 0x05,
  data4: 0x06,
  data8: 0x07,
  string: 0x08,
  block: 0x09,
  block1: 0x0a,
  data1: 0x0b,
  flag: 0x0c,
  sdata: 0x0d,
  strp: 0x0e,
  udata: 0x0f,
  refAddr: 0x10,
  ref1: 0x11,
  ref2: 0x12,
  ref4: 0x13,
  ref8: 0x14,
  refUdata: 0x15,
  indirect: 0x16,
  secOffset: 0x17,
  exprloc: 0x18,
  flagPresent: 0x19,
  strx: 0x1a,
  addrx: 0x1b,
  refSup4: 0x1c,
  strpSup: 0x1d,
  data16: 0x1e,
  lineStrp: 0x1f,
  refSig8: 0x20,
  implicitConst: 0x21,
  loclistx: 0x22,
  rnglistx: 0x23,
  refSup8: 0x24,
  strx1: 0x25,
  strx2: 0x26,
  strx3: 0x27,
  strx4: 0x28,
  addrx1: 0x29,
  addrx2: 0x2a,
  addrx3: 0x2b,
  addrx4: 0x2c,
} as const;

/** How a value of variable length is stored. Fixed lengths are numbers ≥ 0. */
export const Encoding = {
  leb: -1,
  /** Text up to a zero byte. */
  text: -2,
  /** A length of 1, 2 or 4 bytes or as a LEB128, then that number of bytes. */
  block1: -3,
  block2: -4,
  block4: -5,
  blockLeb: -6,
  /** The form as a LEB128, then a value of that form. */
  indirect: -7,
  /** The size of an address of the unit. */
  address: -8,
  /** The size of an offset of the unit. */
  offset: -9,
} as const;

const encodings = new Map<number, number>([
  [AttributeForm.addr, Encoding.address],
  [AttributeForm.block2, Encoding.block2],
  [AttributeForm.block4, Encoding.block4],
  [AttributeForm.data2, 2],
  [AttributeForm.data4, 4],
  [AttributeForm.data8, 8],
  [AttributeForm.string, Encoding.text],
  [AttributeForm.block, Encoding.blockLeb],
  [AttributeForm.block1, Encoding.block1],
  [AttributeForm.data1, 1],
  [AttributeForm.flag, 1],
  [AttributeForm.sdata, Encoding.leb],
  [AttributeForm.strp, Encoding.offset],
  [AttributeForm.udata, Encoding.leb],
  [AttributeForm.refAddr, Encoding.offset],
  [AttributeForm.ref1, 1],
  [AttributeForm.ref2, 2],
  [AttributeForm.ref4, 4],
  [AttributeForm.ref8, 8],
  [AttributeForm.refUdata, Encoding.leb],
  [AttributeForm.indirect, Encoding.indirect],
  [AttributeForm.secOffset, Encoding.offset],
  [AttributeForm.exprloc, Encoding.blockLeb],
  [AttributeForm.flagPresent, 0],
  [AttributeForm.strx, Encoding.leb],
  [AttributeForm.addrx, Encoding.leb],
  [AttributeForm.refSup4, 4],
  [AttributeForm.strpSup, Encoding.offset],
  [AttributeForm.data16, 16],
  [AttributeForm.lineStrp, Encoding.offset],
  [AttributeForm.refSig8, 8],
  [AttributeForm.implicitConst, 0],
  [AttributeForm.loclistx, Encoding.leb],
  [AttributeForm.rnglistx, Encoding.leb],
  [AttributeForm.refSup8, 8],
  [AttributeForm.strx1, 1],
  [AttributeForm.strx2, 2],
  [AttributeForm.strx3, 3],
  [AttributeForm.strx4, 4],
  [AttributeForm.addrx1, 1],
  [AttributeForm.addrx2, 2],
  [AttributeForm.addrx3, 3],
  [AttributeForm.addrx4, 4],
]);

/** The parts of a unit's header that its forms depend on. */
export interface UnitFormat {
  readonly version: number;
  readonly addressSize: number;
  /** 4, or 8 in the 64-bit format. */
  readonly offsetSize: number;
}

/**
 * The length of a value of the form: a number of bytes, or one of {@link Encoding}'s variable lengths. Throws
 * `unsupported_feature` for an unknown form, whose length nothing says.
 */
export function formEncoding(form: number, unit: UnitFormat, offset: number): number {
  const encoding = encodings.get(form);
  if (encoding === undefined) {
    const name = `0x${form.toString(16)}`;
    throw unsupportedFeature('an unknown extension of DWARF', `Found the attribute form ${name}`, offset);
  }
  if (encoding === Encoding.address) return unit.addressSize;
  if (encoding !== Encoding.offset) return encoding;
  // DWARF 2 stores references to other units as addresses.
  return form === AttributeForm.refAddr && unit.version < 3 ? unit.addressSize : unit.offsetSize;
}
