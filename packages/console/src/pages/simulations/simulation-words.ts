import type { Simulation } from '@tenon/protocol';
import { byteSize } from '../../components/byte-size.ts';
import { counted } from '../../components/count.ts';

/** What a simulation consists of: "3 fixtures", "test module (12.4 KiB), mock host". */
export function partsOf({ fixtures, testModule, mockHost, mockInputBase64 }: Simulation): string {
  if (testModule === null) return counted(fixtures?.length ?? 0, 'fixture');
  return [
    `test module (${byteSize(testModule.size)})`,
    ...(mockHost === null ? [] : ['mock host']),
    ...(mockInputBase64 === null ? [] : ['mock input']),
  ].join(', ');
}

/** What simulations are, for those who have none. */
export const whatSimulationsAre =
  'A simulation tests each new version before hosts get it. A version that fails stays unpublished, and its publisher sees why.';
