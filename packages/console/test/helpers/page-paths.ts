import { pageRoutes } from '../../src/routes/all.ts';

/** The paths of all pages, with `:name` for a segment that varies. */
export const pagePaths: readonly string[] = pageRoutes.map(({ path }) => path);
