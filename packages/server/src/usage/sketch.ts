/*
 * HyperLogLog: estimates how many distinct texts were added, in at most 2 KiB, and keeps none of them.
 * https://algo.inria.fr/flajolet/Publications/FlFuGaMe07.pdf
 */
import { hash } from 'node:crypto';

/** The number of registers, as a power of two. The standard error is 1.04 / √registers: 3.25 %. */
const indexBits = 10;
const registers = 2 ** indexBits;

/** A register's value takes 6 bits, since a rank is at most 55. */
const rankBits = 6;

/** The value of each register that is not 0, by its number. */
export type Sketch = Map<number, number>;

/** A register, and the value that a text has there. */
export interface SketchEntry {
  readonly index: number;
  readonly rank: number;
}

/** Returns what a text adds to a sketch. */
export function sketchEntry(text: string): SketchEntry {
  const digest = hash('sha256', text, 'buffer');
  const bits = digest.readBigUInt64BE(0);
  const rest = BigInt.asUintN(64 - indexBits, bits);
  const rank = rest === 0n ? 64 - indexBits + 1 : 64 - indexBits - rest.toString(2).length + 1;
  return { index: Number(bits >> BigInt(64 - indexBits)), rank };
}

export function addToSketch(sketch: Sketch, { index, rank }: SketchEntry): void {
  if (rank > (sketch.get(index) ?? 0)) sketch.set(index, rank);
}

/** Adds an encoded sketch to another one. */
export function mergeSketch(sketch: Sketch, encoded: string | undefined): void {
  if (encoded === undefined) return;
  const bytes = Buffer.from(encoded, 'base64');
  for (let at = 0; at + 1 < bytes.length; at += 2) {
    const entry = bytes.readUInt16BE(at);
    addToSketch(sketch, { index: entry >> rankBits, rank: entry & (2 ** rankBits - 1) });
  }
}

/** Encodes a sketch: two bytes for each register that is not 0, in order, so that equal sketches have equal texts. */
export function encodeSketch(sketch: Sketch): string | undefined {
  if (sketch.size === 0) return undefined;
  const bytes = Buffer.alloc(sketch.size * 2);
  let at = 0;
  for (const [index, rank] of [...sketch].sort(([a], [b]) => a - b))
    at = bytes.writeUInt16BE((index << rankBits) | rank, at);
  return bytes.toString('base64');
}

/** Estimates the number of distinct texts. Below about 2,500 it counts empty registers, which is nearly exact for a few texts. */
export function estimate(sketch: Sketch): number {
  const empty = registers - sketch.size;
  let sum = empty;
  for (const rank of sketch.values()) sum += 2 ** -rank;
  const alpha = 0.7213 / (1 + 1.079 / registers);
  const raw = (alpha * registers * registers) / sum;
  return Math.round(raw <= 2.5 * registers && empty > 0 ? registers * Math.log(registers / empty) : raw);
}
