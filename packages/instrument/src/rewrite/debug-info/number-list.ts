/** A list of numbers that grows, at eight bytes for each. */
export interface NumberList {
  values: Float64Array;
  length: number;
}

export function createNumberList(): NumberList {
  return { values: new Float64Array(64), length: 0 };
}

export function addNumber(list: NumberList, value: number): void {
  if (list.length === list.values.length) {
    const grown = new Float64Array(2 * list.length);
    grown.set(list.values);
    list.values = grown;
  }
  list.values[list.length++] = value;
}

/** Sorts the list and removes duplicates. */
export function sortUnique(list: NumberList): Float64Array {
  const values = list.values.subarray(0, list.length).sort();
  let count = 0;
  for (let index = 0; index < values.length; index++) {
    if (index === 0 || values[index] !== values[index - 1]) values[count++] = values[index] as number;
  }
  return values.subarray(0, count);
}
