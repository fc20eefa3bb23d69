/** The mutable global of a module with fuel: how many instructions it may still execute. */
const fuelExport = 'tenon:fuel';

/** Whether an instance has trapped because it used up its fuel. */
export function isOutOfFuel(exports: WebAssembly.Exports): boolean {
  const fuel = exports[fuelExport];
  return fuel instanceof WebAssembly.Global && fuel.value < 0n;
}

/** Sets how many instructions an instance may still execute. Does nothing for a module without fuel. */
export function setFuel(exports: WebAssembly.Exports, instructions: number): void {
  const fuel = exports[fuelExport];
  if (fuel instanceof WebAssembly.Global) fuel.value = BigInt(instructions);
}
