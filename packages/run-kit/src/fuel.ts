/** The mutable global of a module with fuel: how many instructions it may still execute. */
const fuelExport = 'tenon:fuel';

/**
 * The import of a module that is instrumented with `onOutOfFuel: 'call'`. Unless the hook adds fuel, the module traps
 * after it.
 */
export function fuelImports(onOutOfFuel: () => void): WebAssembly.Imports {
  return { 'tenon:instrument': { 'out-of-fuel': onOutOfFuel } };
}

/** Sets how many instructions an instance may still execute. Does nothing for a module without fuel. */
export function setFuel(exports: WebAssembly.Exports, instructions: number): void {
  const fuel = exports[fuelExport];
  if (fuel instanceof WebAssembly.Global) fuel.value = BigInt(instructions);
}

/** Gives an instance its fuel in slices, so that the host can stop it between two. */
export interface FuelSlices {
  readonly imports: WebAssembly.Imports;
  /** Call it after instantiation. A start function gets all fuel at once. */
  readonly attach: (exports: WebAssembly.Exports) => void;
  /** Whether the program was stopped because it used up its fuel. */
  readonly isUsedUp: () => boolean;
}

/** About 20 milliseconds. */
const sliceInstructions = 50_000_000n;

/** @param checkStop throws if the program should stop */
export function createFuelSlices(checkStop: () => void): FuelSlices {
  let fuel: { value: bigint } | undefined;
  let left = 0n;
  let isUsedUp = false;
  const refill = (): void => {
    if (fuel === undefined) return;
    while (fuel.value < sliceInstructions && left > 0n) {
      const slice = left < sliceInstructions ? left : sliceInstructions;
      left -= slice;
      fuel.value += slice;
    }
  };
  return {
    imports: fuelImports(() => {
      checkStop();
      refill();
      isUsedUp = fuel === undefined || fuel.value < 0n;
    }),
    attach(exports) {
      const found = exports[fuelExport];
      if (!(found instanceof WebAssembly.Global)) return;
      fuel = found;
      left = fuel.value;
      fuel.value = 0n;
      refill();
    },
    isUsedUp: () => isUsedUp,
  };
}
