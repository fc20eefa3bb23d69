import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { moduleOfSize } from './module-of-size.ts';
import type { RequestKind } from './requests.ts';
import { contentSizes, type Stage } from './stage.ts';

/** What is asked, and on how many connections at a time. */
interface Case {
  readonly title: string;
  readonly connections: number;
}

/** Everything that is measured, in the order of the tables. */
export const cases = {
  'a2-304': { title: 'A2, 304: a binding list that has not changed', connections: 16 },
  'a2-200': { title: 'A2, 200: a binding list', connections: 16 },
  'a3-64k': { title: 'A3, 64 KiB: a plugin', connections: 16 },
  'a3-1m': { title: 'A3, 1 MiB', connections: 16 },
  'a3-32m': { title: 'A3, 32 MiB', connections: 4 },
  publish: { title: 'publish: a new version, 1 KiB, of one of 8 plugins', connections: 8 },
  'instrument-small': { title: 'B1, a small module', connections: 4 },
  'instrument-large': { title: 'B1, a module of 1.2 MB (QuickJS)', connections: 4 },
  mixed: { title: 'mixed: 90 % A2 304, 5 % A2 200, 4 % A3 64 KiB, 1 % publish', connections: 16 },
} as const satisfies Record<string, Case>;

export type CaseName = keyof typeof cases;

export const caseNames = Object.keys(cases) as readonly CaseName[];

/** The requests of a case. */
export type Kinds = Readonly<Partial<Record<CaseName, readonly RequestKind[]>>>;

const modules = {
  small: readFileSync(new URL('../../sample/greet.wasm', import.meta.url)),
  large: readFileSync(createRequire(import.meta.url).resolve('@jitl/quickjs-wasmfile-debug-sync/wasm')),
};

/** What is asked of a server of ours. @param etag the binding list's */
export function kindsOf(stage: Stage, etag: string): Kinds {
  const { headers, keyHeaders, bindings, contents, publish } = stage;
  const get = { weight: 1, method: 'GET', headers, status: 200 } as const;
  const unchanged: RequestKind = {
    ...get,
    name: 'A2 304',
    path: bindings,
    headers: { ...headers, 'if-none-match': etag },
    status: 304,
  };
  const list: RequestKind = { ...get, name: 'A2 200', path: bindings };
  const fetching = (size: keyof typeof contentSizes): RequestKind => ({
    ...get,
    name: `A3 ${size}`,
    path: contents[size],
    answerBytes: contentSizes[size],
  });
  const module = moduleOfSize(1024);
  const publishing: RequestKind = {
    ...get,
    name: 'publish',
    method: 'PUT',
    path: publish,
    headers: { ...headers, 'content-type': 'application/wasm' },
    body: module,
    freshAt: module.length - 16,
  };
  const instrumenting = (size: keyof typeof modules): RequestKind => {
    const { body, contentType } = formOf(modules[size]);
    const fields = { ...keyHeaders, 'content-type': contentType };
    return { ...get, name: `B1 ${size}`, method: 'POST', path: '/instrument', headers: fields, body };
  };
  const parts: readonly (readonly [RequestKind, number])[] = [
    [unchanged, 90],
    [list, 5],
    [fetching('small'), 4],
    [publishing, 1],
  ];
  return {
    'a2-304': [unchanged],
    'a2-200': [list],
    'a3-64k': [fetching('small')],
    'a3-1m': [fetching('medium')],
    'a3-32m': [fetching('large')],
    publish: [publishing],
    'instrument-small': [instrumenting('small')],
    'instrument-large': [instrumenting('large')],
    mixed: parts.map(([kind, weight]) => ({ ...kind, weight })),
  };
}

/** The same asked of a bare server, which takes a module as it is. */
export function bareKindsOf(kinds: Kinds): Kinds {
  const bare = (size: keyof typeof modules, kind: readonly RequestKind[] = []): readonly RequestKind[] =>
    kind.map((one) => ({ ...one, headers: {}, body: modules[size] }));
  return {
    ...kinds,
    'instrument-small': bare('small', kinds['instrument-small']),
    'instrument-large': bare('large', kinds['instrument-large']),
  };
}

function formOf(module: Uint8Array): { body: Uint8Array; contentType: string } {
  const boundary = 'a-boundary-of-the-bench';
  const head = `--${boundary}\r\ncontent-disposition: form-data; name="wasm"\r\n\r\n`;
  const body = Buffer.concat([Buffer.from(head), module, Buffer.from(`\r\n--${boundary}--\r\n`)]);
  return { body, contentType: `multipart/form-data; boundary=${boundary}` };
}
