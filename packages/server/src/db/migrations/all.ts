import type { Migration } from '../migrate.ts';
import { baseline } from './0001-baseline.ts';

/** All migrations, in the order in which they run. A released migration never changes. */
export const migrations: readonly Migration[] = [baseline];
