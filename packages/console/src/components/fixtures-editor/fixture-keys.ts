/* The keys of fixtures, as the protocol's type `Fixture` has them. The editor suggests and checks them. */

/** Where a key stands: in a fixture, in its `expect`, or in one of its `hostCalls`. */
export type FixturePlace = 'fixture' | 'expect' | 'hostCall';

export interface FixtureKey {
  readonly description: string;
  /** What a value looks like; the editor inserts it. */
  readonly example: string;
}

export const fixtureKeys: Readonly<Record<FixturePlace, Readonly<Record<string, FixtureKey>>>> = {
  fixture: {
    name: { description: 'What it shows. By default the export and a number.', example: '""' },
    export: { description: 'The export to call.', example: '""' },
    input: { description: 'The input as text. JSON is text too: escape its quotation marks.', example: '""' },
    inputBase64: { description: 'The input as bytes, in Base64.', example: '""' },
    expect: { description: 'What the call must return.', example: '{}' },
    hostCalls: { description: 'The calls of host functions that the plugin must make, in order.', example: '[]' },
  },
  expect: {
    equals: { description: 'The exact output: a text, or { "base64": … } for bytes.', example: '""' },
    jsonSubset: {
      description: 'JSON that the output contains. Objects may have more fields; lists have equal lengths.',
      example: '{}',
    },
    matchesSchema: { description: 'Whether the output must fit the type in the schema.', example: 'true' },
    fails: { description: 'Whether the call must fail. A text must be part of the error message.', example: 'true' },
  },
  hostCall: {
    name: { description: 'The host function.', example: '""' },
    args: { description: 'The expected arguments: numbers, { "i64": "…" }, texts, or { "base64": … }.', example: '[]' },
    returns: { description: 'What the host function returns.', example: '""' },
  },
};

/** Where a path in the text leads, if keys can stand there. */
export function placeOf(path: readonly (string | number)[]): FixturePlace | undefined {
  if (path.length === 1 && typeof path[0] === 'number') return 'fixture';
  if (path.length === 2 && path[1] === 'expect') return 'expect';
  if (path.length === 3 && path[1] === 'hostCalls') return 'hostCall';
  return undefined;
}

/** The names that a schema declares, as the editor needs them. */
export interface KnownNames {
  readonly exports: readonly string[];
  readonly imports: readonly string[];
}
