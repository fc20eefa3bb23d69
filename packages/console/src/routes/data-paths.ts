import { exec } from 'preact-iso/router';
import { href } from '../base-path.ts';
import { pageRoutes } from './all.ts';

/** Returns the API paths of the data that the page at a URL path requests first. */
export function dataPaths(pathname: string): readonly string[] {
  for (const { path, data } of pageRoutes) {
    const match = exec(pathname, href(path));
    if (match !== undefined) return data?.((match as { params: Record<string, string> }).params) ?? [];
  }
  return [];
}
