/** The allocator call that is under way. Calls of other allocators within it are part of it. */
export interface Allocation {
  /** Open calls of allocators; 0: none is under way. */
  depth: number;
  func: number;
  /** The memory that it frees or reallocates; 0 for none. */
  pointer: number;
  size: number;
}

export function createAllocation(): Allocation {
  return { depth: 0, func: 0, pointer: 0, size: 0 };
}
