import { expectEnd, readCount, readerOver, readU32 } from '../binary/reader.ts';
import { contentReader, readSections } from '../binary/sections.ts';
import { type ByteWriter, writeU32 } from '../binary/writer.ts';
import { InstrumentError, invalidModule } from '../errors.ts';
import { maxGlobals } from '../limits.ts';

/** The custom section that describes the counted blocks of a module. */
export const coverageSection = 'tenon.coverage';

/** The export that returns a counter: `(param i32) (result i64)`, from the counter's index to its value. */
export const counterExport = 'tenon:count';

/**
 * A basic block: instructions that run one after the other, entered only at the first one. Offsets are in bytes from the
 * start of the code section's contents, as in DWARF.
 */
export interface CoverageBlock {
  /** The index of the counter, for {@link counterExport}. */
  readonly counter: number;
  /** In the input: the offset of the first instruction, and the offset after the last one. */
  readonly start: number;
  readonly end: number;
  /** In the output: the same instructions, counter included. */
  readonly outputStart: number;
  readonly outputEnd: number;
}

/** The counted blocks of a function, in the order of the code. The first one begins with the function's first instruction. */
export interface CoveredFunction {
  /** The index of the function in the input. */
  readonly functionIndex: number;
  readonly blocks: readonly CoverageBlock[];
}

/** The counted blocks of a module, by function, in the order of the code. */
export interface CoverageMap {
  readonly functions: readonly CoveredFunction[];
  readonly blockCount: number;
}

/** How often each block was entered, in the order of the blocks of a {@link CoverageMap}. Exact up to 2^53. */
export type CoverageCounts = Float64Array;

const version = 1;

/**
 * Reads which blocks of an instrumented module are counted. Returns undefined for a module without coverage. Throws an
 * {@link InstrumentError} for a malformed module or section.
 */
export function readCoverageMap(bytes: Uint8Array): CoverageMap | undefined {
  const section = readSections(bytes).find(({ id, name }) => id === 0 && name === coverageSection);
  if (section === undefined) return undefined;
  const { offset, end } = contentReader(bytes, section);
  const reader = readerOver(bytes, offset, end);
  const found = readU32(reader, 'the version of the coverage map');
  if (found !== version) throw invalidModule(`Expected version ${version} of the coverage map, found ${found}`, offset);
  const functionCount = readCount(reader, 'the number of functions', 3);
  const functions: CoveredFunction[] = [];
  let functionIndex = -1;
  let counter = 0;
  let blockCount = 0;
  let inputEnd = 0;
  let outputEnd = 0;
  for (let entry = 0; entry < functionCount; entry++) {
    functionIndex += 1 + readU32(reader, 'the distance of a function index');
    counter += readU32(reader, 'the number of unused counters');
    const count = readCount(reader, 'the number of blocks', 4);
    const blocks: CoverageBlock[] = [];
    for (let block = 0; block < count; block++) {
      const start = inputEnd + readU32(reader, 'the distance of a block');
      inputEnd = start + readU32(reader, 'the length of a block');
      const outputStart = outputEnd + readU32(reader, 'the distance of a block in the output');
      outputEnd = outputStart + readU32(reader, 'the length of a block in the output');
      blocks.push({ counter: counter++, start, end: inputEnd, outputStart, outputEnd });
    }
    blockCount += count;
    if (Math.max(counter, functionIndex, inputEnd, outputEnd) > 0xffff_ffff || counter > maxGlobals) {
      throw invalidModule(
        'Expected numbers that a module can have in the coverage map, found larger ones',
        reader.offset,
      );
    }
    functions.push({ functionIndex, blocks });
  }
  expectEnd(reader, 'the coverage map');
  return { functions, blockCount };
}

/** Writes the contents of the section: all numbers but the version and the counts are distances, mostly of one byte. */
export function writeCoverageMap(writer: ByteWriter, { functions }: CoverageMap): void {
  writeU32(writer, version);
  writeU32(writer, functions.length);
  let nextFunction = 0;
  let nextCounter = 0;
  let inputEnd = 0;
  let outputEnd = 0;
  for (const { functionIndex, blocks } of functions) {
    writeU32(writer, functionIndex - nextFunction);
    nextFunction = functionIndex + 1;
    const counter = blocks[0]?.counter ?? nextCounter;
    writeU32(writer, counter - nextCounter);
    nextCounter = counter + blocks.length;
    writeU32(writer, blocks.length);
    for (const block of blocks) {
      writeU32(writer, block.start - inputEnd);
      writeU32(writer, block.end - block.start);
      writeU32(writer, block.outputStart - outputEnd);
      writeU32(writer, block.outputEnd - block.outputStart);
      inputEnd = block.end;
      outputEnd = block.outputEnd;
    }
  }
}

/**
 * Reads the counters of an instance, at any time, also after a trap. `exports` are the instance's exports; in a module
 * that several threads instantiate, each instance has its own counters. Throws an {@link InstrumentError} with code
 * `invalid_config` if `exports` belongs to another module.
 */
export function readCounters(map: CoverageMap, exports: Readonly<Record<string, unknown>>): CoverageCounts {
  const count = exports[counterExport];
  if (typeof count !== 'function') {
    const message = `Expected the exports of a module with coverage, found none with the name "${counterExport}"`;
    throw new InstrumentError('invalid_config', message);
  }
  const counts = new Float64Array(map.blockCount);
  let place = 0;
  for (const { blocks } of map.functions) {
    for (const { counter } of blocks) counts[place++] = Number(count(counter));
  }
  return counts;
}
