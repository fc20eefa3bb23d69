import type { ConformanceCase } from '../case.ts';
import { basicCases } from './basics.ts';
import { cacheCases } from './caches.ts';
import { errorCases } from './errors.ts';
import { refusalCases } from './refusals.ts';
import { streamCases } from './streams.ts';

export const conformanceCases: readonly ConformanceCase[] = [
  ...basicCases,
  ...errorCases,
  ...refusalCases,
  ...streamCases,
  ...cacheCases,
];
