/** The live allocations of an instance: a hash table of numbers, because an event must not allocate. */
export interface LiveAllocations {
  /** Adds an allocation of a pointer that is not 0 and has none. `false` if there are too many. */
  readonly add: (pointer: number, size: number, node: number) => boolean;
  /** The slot of a pointer's allocation; -1 without one. */
  readonly find: (pointer: number) => number;
  readonly sizeAt: (slot: number) => number;
  /** The node of the call path that allocated it. */
  readonly nodeAt: (slot: number) => number;
  readonly removeAt: (slot: number) => void;
}

const initialSlots = 256;

export function createLiveAllocations(maxCount: number): LiveAllocations {
  // The module chooses its pointers, but can't know the multiplier that makes them collide.
  const multiplier = Math.floor(Math.random() * 2 ** 32) | 1;
  let mask = initialSlots - 1;
  let pointers = new Float64Array(initialSlots);
  let sizes = new Float64Array(initialSlots);
  let nodes = new Int32Array(initialSlots);
  let count = 0;
  const home = (pointer: number): number => {
    const product = Math.imul(pointer ^ (pointer / 2 ** 32), multiplier);
    return (product ^ (product >>> 15)) & mask;
  };
  const slotFor = (pointer: number): number => {
    let slot = home(pointer);
    while (pointers[slot] !== 0 && pointers[slot] !== pointer) slot = (slot + 1) & mask;
    return slot;
  };
  const put = (pointer: number, size: number, node: number): void => {
    const slot = slotFor(pointer);
    pointers[slot] = pointer;
    sizes[slot] = size;
    nodes[slot] = node;
  };
  const grow = (): void => {
    const [oldPointers, oldSizes, oldNodes] = [pointers, sizes, nodes];
    const slots = pointers.length * 2;
    mask = slots - 1;
    pointers = new Float64Array(slots);
    sizes = new Float64Array(slots);
    nodes = new Int32Array(slots);
    oldPointers.forEach((pointer, slot) => {
      if (pointer !== 0) put(pointer, oldSizes[slot] as number, oldNodes[slot] as number);
    });
  };
  return {
    add(pointer, size, node) {
      if (count >= maxCount) return false;
      if ((count + 1) * 2 > pointers.length) grow();
      put(pointer, size, node);
      count++;
      return true;
    },
    find(pointer) {
      const slot = slotFor(pointer);
      return pointers[slot] === pointer && pointer !== 0 ? slot : -1;
    },
    sizeAt: (slot) => sizes[slot] as number,
    nodeAt: (slot) => nodes[slot] as number,
    removeAt(slot) {
      count--;
      let free = slot;
      for (let next = (slot + 1) & mask; pointers[next] !== 0; next = (next + 1) & mask) {
        // An entry may move down to the free slot unless that lies before its home.
        const start = home(pointers[next] as number);
        if (((next - start) & mask) < ((next - free) & mask)) continue;
        pointers[free] = pointers[next] as number;
        sizes[free] = sizes[next] as number;
        nodes[free] = nodes[next] as number;
        free = next;
      }
      pointers[free] = 0;
    },
  };
}
