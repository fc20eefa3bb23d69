import { isForAnyOrigin } from './cors.ts';
import type { Route } from './route.ts';

/** What is at each path, for what the router can't answer: 405 with `allow`, and `OPTIONS`. */
export interface PathTable {
  /** What is at a request's target, whose query doesn't count; `undefined` when there is nothing. */
  at(target: string): PathEntry | undefined;
}

export interface PathEntry {
  readonly methods: readonly string[];
  /** Whether all of it is for scripts of any origin. */
  readonly isForAnyOrigin: boolean;
  /** Whether a person may open it in a browser. */
  readonly isPage: boolean;
  /** How errors are put there. */
  readonly errorForm: Route['errorForm'];
}

export function createPathTable(
  routes: readonly Pick<Route, 'method' | 'path' | 'access' | 'page' | 'errorForm'>[],
): PathTable {
  const byPattern = Map.groupBy(routes, ({ path }) => path);
  const entries = [...byPattern].map(([path, those]) => {
    const methods = new Set<string>(['OPTIONS', ...those.map(({ method }) => method)]);
    if (methods.has('GET')) methods.add('HEAD');
    return {
      pattern: toPattern(path),
      methods: [...methods].sort(),
      isForAnyOrigin: those.every(isForAnyOrigin),
      isPage: those.some(({ page }) => page === true),
      errorForm: those[0]?.errorForm,
    };
  });
  return {
    at(target) {
      const [path = ''] = target.split('?', 1);
      return entries.find(({ pattern }) => pattern.test(path));
    },
  };
}

function toPattern(path: string): RegExp {
  const segments = path.split('/').map((segment) => {
    if (segment === '*') return '.*';
    return segment.startsWith(':') ? '[^/]+' : RegExp.escape(segment);
  });
  return new RegExp(`^${segments.join('/')}$`);
}
