/** What the rewriter does with an attribute. */
export const Role = {
  /** A low address, an address, and a high address or length. */
  lowPc: 1,
  address: 2,
  highPc: 3,
  /** An address, or a distance from the low address. */
  entryPc: 4,
  ranges: 5,
  location: 6,
  lineProgram: 7,
  macros: 8,
  rangesBase: 9,
  locationsBase: 10,
  addressesBase: 11,
  /** The offset of something that stays where it is. */
  fixed: 12,
  /** The name of a file with the unit's debug information. */
  split: 13,
} as const;

/** Roles by attribute. https://dwarfstd.org/doc/DWARF5.pdf, section 7.5.4 */
const roles = new Map<number, number>([
  [0x02, Role.location], // location
  [0x10, Role.lineProgram], // stmt_list
  [0x11, Role.lowPc],
  [0x12, Role.highPc],
  [0x19, Role.location], // string_length
  [0x2a, Role.location], // return_addr
  [0x2c, Role.ranges], // start_scope
  [0x38, Role.location], // data_member_location
  [0x40, Role.location], // frame_base
  [0x43, Role.fixed], // macro_info
  [0x46, Role.location], // segment
  [0x48, Role.location], // static_link
  [0x4a, Role.location], // use_location
  [0x4d, Role.location], // vtable_elem_location
  [0x52, Role.entryPc],
  [0x55, Role.ranges],
  [0x56, Role.address], // trampoline
  [0x72, Role.fixed], // str_offsets_base
  [0x73, Role.addressesBase],
  [0x74, Role.rangesBase],
  [0x76, Role.split], // dwo_name
  [0x79, Role.macros],
  [0x7d, Role.address], // call_return_pc
  [0x81, Role.address], // call_pc
  [0x8c, Role.locationsBase],
  [0x2119, Role.macros], // GNU_macros
  [0x2130, Role.split], // GNU_dwo_name
]);

export function roleOf(attribute: number): number {
  return roles.get(attribute) ?? 0;
}
