/**
 * Maps offsets in the input's code section to offsets in the output's. Both count from the start of the section's contents,
 * as in DWARF. Instructions between two points keep their distance, so a point stands only where the distance changes.
 */
export interface OffsetMap {
  /** The offset of the code section's contents in the input file. */
  readonly inputCodeStart: number;
  /** The same in the output file; 0 until the output exists. */
  readonly outputCodeStart: number;
  /** The number of points. */
  length: number;
  /** Ascending. Where a body's prologue is added, two points have the same input offset: before and behind the prologue. */
  inputs: Uint32Array;
  /** Where the input's instruction stands in the output, per point. */
  outputs: Uint32Array;
  /** Bytes of added code directly before it, which belong to this instruction. */
  inserted: Uint16Array;
  /** The point that was looked up last. */
  found: number;
}

export function emptyOffsetMap(inputCodeStart: number, outputCodeStart: number, capacity: number): OffsetMap {
  return {
    inputCodeStart,
    outputCodeStart,
    length: 0,
    inputs: new Uint32Array(capacity),
    outputs: new Uint32Array(capacity),
    inserted: new Uint16Array(capacity),
    found: 0,
  };
}

/** Adds a point, unless the point before it implies it. It replaces a point with the same input offset, unless `isKept`. */
export function addPoint(map: OffsetMap, input: number, output: number, inserted = 0, isKept = false): void {
  const last = map.length - 1;
  if (last >= 0 && !isKept) {
    const distance = input - (map.inputs[last] as number);
    if (inserted === 0 && (map.outputs[last] as number) + distance === output) return;
    if (distance === 0) {
      map.length--;
      // Several pieces of code may be added before one instruction.
      if (inserted > 0) inserted += map.inserted[last] as number;
    }
  }
  if (map.length === map.inputs.length) growMap(map);
  map.inputs[map.length] = input;
  map.outputs[map.length] = output;
  map.inserted[map.length++] = inserted;
}

function growMap(map: OffsetMap): void {
  const capacity = 2 * map.length + 64;
  const grow = <List extends Uint32Array | Uint16Array>(from: List, to: List): List => {
    to.set(from);
    return to;
  };
  map.inputs = grow(map.inputs, new Uint32Array(capacity));
  map.outputs = grow(map.outputs, new Uint32Array(capacity));
  map.inserted = grow(map.inserted, new Uint16Array(capacity));
}

/**
 * The output offset for an input offset. For an instruction, the offset of the code that is added before it, except for the
 * body's prologue. An offset behind the last body stays as it is.
 */
export function outputOffset(map: OffsetMap, input: number): number {
  const point = findPoint(map, input);
  const distance = input - (map.inputs[point] as number);
  if (distance === 0) return (map.outputs[point] as number) - (map.inserted[point] as number);
  return outputBehind(map, point, distance);
}

/** The same, but for the first instruction of a body, the offset of the body's prologue. */
export function outputStart(map: OffsetMap, input: number): number {
  const point = findPoint(map, input);
  const hasPrologue = map.inputs[point] === input && point > 0 && map.inputs[point - 1] === input;
  return hasPrologue ? (map.outputs[point - 1] as number) : outputOffset(map, input);
}

/** The output offset of the instruction, behind the code that is added before it. */
export function outputInstruction(map: OffsetMap, input: number): number {
  const point = findPoint(map, input);
  return outputBehind(map, point, input - (map.inputs[point] as number));
}

function outputBehind(map: OffsetMap, point: number, distance: number): number {
  if (point === map.length - 1)
    return distance === 0 ? (map.outputs[point] as number) : (map.inputs[point] as number) + distance;
  const next = (map.outputs[point + 1] as number) - (map.inserted[point + 1] as number);
  return Math.min((map.outputs[point] as number) + distance, next);
}

/** The last point at or before an input offset. Close to the point found last it takes a few steps. */
function findPoint(map: OffsetMap, input: number): number {
  const { inputs, length } = map;
  let low = map.found;
  let high = length;
  if ((inputs[low] as number) <= input) {
    for (let steps = 0; steps < 8; steps++) {
      if (low + 1 === length || (inputs[low + 1] as number) > input) {
        map.found = low;
        return low;
      }
      low++;
    }
  } else {
    high = low;
    low = 0;
  }
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((inputs[middle] as number) <= input) low = middle;
    else high = middle;
  }
  map.found = low;
  return low;
}

/**
 * The input offset of the instruction at an output offset. Code that was added for an instruction belongs to it, a prologue
 * to the body's first instruction, and an epilogue to the body's `end`. Undefined for functions that the input doesn't have.
 */
export function originalOffset(map: OffsetMap, offset: number): number | undefined {
  const { inputs, outputs, inserted, length } = map;
  if (!(offset >= 0 && offset < (outputs[length - 1] as number))) return undefined;
  let low = 0;
  let high = length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((outputs[middle] as number) - (inserted[middle] as number) <= offset) low = middle;
    else high = middle;
  }
  const input = inputs[low] as number;
  const distance = Math.max(0, offset - (outputs[low] as number));
  return Math.max(input, Math.min(input + distance, (inputs[low + 1] as number) - 1));
}
