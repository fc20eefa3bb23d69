import { wat } from '../../../../test/helpers/wat.ts';

/** Bits of a vector, the low half first. JavaScript has no other form for them. */
export type VectorHalves = readonly [low: bigint, high: bigint];

const callers = new Map<string, WebAssembly.Module>();

/**
 * Calls an exported function that takes or gives vectors, which JavaScript can't hand over: a small module in between takes each as
 * two halves and puts it together.
 *
 * @param args a value each; of a vector, its halves
 * @param result the type of the result, where there is one
 * @returns what the function returned; of a vector, an array of its halves
 */
export function callWithVectors(
  callee: unknown,
  params: readonly string[],
  args: readonly (unknown | VectorHalves)[],
  result: string | undefined,
): unknown {
  const signature = `${params.join()} ${result}`;
  const module = callers.get(signature) ?? new WebAssembly.Module(new Uint8Array(callerOf(params, result)));
  callers.set(signature, module);
  const { call } = new WebAssembly.Instance(module, { callee: { f: callee as WebAssembly.ImportValue } }).exports;
  return (call as (...args: unknown[]) => unknown)(...args.flat());
}

function callerOf(params: readonly string[], result: string | undefined): Uint8Array {
  const split = (type: string) => (type === 'v128' ? 'i64 i64' : type);
  let index = 0;
  const pushed = params.map((type) =>
    type === 'v128'
      ? `local.get ${index++} i64x2.splat local.get ${index++} i64x2.replace_lane 1`
      : `local.get ${index++}`,
  );
  const halve = `local.set ${index} local.get ${index} i64x2.extract_lane 0 local.get ${index} i64x2.extract_lane 1`;
  return wat(`(module
    (import "callee" "f" (func $f (param ${params.join(' ')}) (result ${result ?? ''})))
    (func (export "call") (param ${params.map(split).join(' ')}) (result ${split(result ?? '')}) (local v128)
      ${pushed.join(' ')} call $f ${result === 'v128' ? halve : ''}))`);
}

const laneBits: Readonly<Record<string, number>> = { i8: 8, i16: 16, i32: 32, i64: 64, f32: 32, f64: 64 };
const canonicalNan: Readonly<Record<string, bigint>> = { f32: 0x7fc00000n, f64: 0x7ff8000000000000n };

/** A vector out of its lanes, the lowest first: each the lane's bits as a decimal number, or a kind of NaN. */
export function vectorOf(laneType: string, lanes: readonly string[]): VectorHalves {
  const bits = laneBits[laneType];
  if (bits === undefined) throw new RangeError(`Expected the type of a lane, found ${laneType}`);
  const whole = lanes.reduceRight((high, lane) => {
    const value = lane.startsWith('nan') ? (canonicalNan[laneType] ?? 0n) : BigInt(lane);
    return (high << BigInt(bits)) | BigInt.asUintN(bits, value);
  }, 0n);
  return [BigInt.asIntN(64, whole), BigInt.asIntN(64, whole >> 64n)];
}
