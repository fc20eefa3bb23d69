/** Which methods each path has, for what the router can't answer: 405 with `allow`, and `OPTIONS`. */
export interface PathTable {
  /** The methods that exist at a path, without its query; none when there is nothing. */
  methodsAt(path: string): string[];
}

export function createPathTable(routes: readonly { readonly method: string; readonly path: string }[]): PathTable {
  const byPattern = Map.groupBy(routes, ({ path }) => path);
  const entries = [...byPattern].map(([path, those]) => {
    const methods = new Set(['OPTIONS', ...those.map(({ method }) => method)]);
    if (methods.has('GET')) methods.add('HEAD');
    return { pattern: toPattern(path), methods: [...methods].sort() };
  });
  return {
    methodsAt: (path) => entries.find(({ pattern }) => pattern.test(path))?.methods ?? [],
  };
}

function toPattern(path: string): RegExp {
  const segments = path.split('/').map((segment) => {
    if (segment === '*') return '.*';
    return segment.startsWith(':') ? '[^/]+' : RegExp.escape(segment);
  });
  return new RegExp(`^${segments.join('/')}$`);
}
