/**
 * Finds cycles of a directed graph: a shortest one through each node, except through those that an earlier one has shown.
 *
 * @param {Map<string, string[]>} edges from each node to the nodes it points at
 * @returns {string[][]} the nodes along each cycle; the first is repeated at the end
 */
export function findCycles(edges) {
  /** @type {string[][]} */
  const cycles = [];
  const seen = new Set();
  for (const start of edges.keys()) {
    if (seen.has(start)) continue;
    const cycle = shortestWayBack(edges, start);
    if (cycle === undefined) continue;
    for (const node of cycle) seen.add(node);
    cycles.push(cycle);
  }
  return cycles;
}

/**
 * @param {Map<string, string[]>} edges
 * @param {string} start
 * @returns {string[] | undefined}
 */
function shortestWayBack(edges, start) {
  /** @type {Map<string, string>} */
  const cameFrom = new Map();
  const queue = [start];
  for (const node of queue) {
    for (const next of edges.get(node) ?? []) {
      if (next === start) return wayTo(cameFrom, node, start);
      if (cameFrom.has(next)) continue;
      cameFrom.set(next, node);
      queue.push(next);
    }
  }
  return undefined;
}

/**
 * @param {Map<string, string>} cameFrom
 * @param {string} end
 * @param {string} start
 */
function wayTo(cameFrom, end, start) {
  const way = [start];
  for (let node = end; node !== start; node = cameFrom.get(node) ?? start) way.push(node);
  return [start, ...way.slice(1).reverse(), start];
}
