import { useLocation } from 'preact-iso/router';
import { href } from '../../base-path.ts';
import { type AuditFilter, filterSearch, readFilter } from './filter.ts';

/** The filter in the page's URL. */
export function useFilter(pagePath: string): {
  readonly filter: AuditFilter;
  readonly change: (part: Partial<AuditFilter>) => void;
  readonly linkTo: (part: Partial<AuditFilter>) => string;
} {
  const { query, route } = useLocation();
  const filter = readFilter(query);
  const linkTo = (part: Partial<AuditFilter>): string => pagePath + filterSearch({ ...filter, ...part });
  return { filter, linkTo, change: (part) => route(href(linkTo(part))) };
}
