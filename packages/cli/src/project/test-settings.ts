/** One `[[test]]` of a project file: a test module or fixtures that the plugin must pass. */
export interface TestSetting {
  readonly name?: string;
  /** A line for the system's shell that makes the test module. */
  readonly build?: string;
  /** The test module, from the file's folder on. */
  readonly with?: string;
  /** A module with the host functions, from the file's folder on. */
  readonly mockHost?: string;
  readonly mockInput?: { readonly data: string } | { readonly file: string };
  /** A JSON file with fixtures, from the file's folder on. */
  readonly fixtures?: string;
}

/** How a project file writes its tests. */
export interface TestDialect {
  /** The keys of a test, by the field that each sets. */
  readonly keys: Readonly<Record<string, keyof TestSetting>>;
  /** Whether a command may have several lines. */
  readonly hasLines: boolean;
}

/** Reports a fault at a key. */
export type Fault = (keys: readonly string[], what: string) => Error;

const texts: Readonly<Record<Exclude<keyof TestSetting, 'mockInput'>, string>> = {
  name: 'a name of at most 200 characters',
  build: 'a command',
  with: 'the path of a file',
  mockHost: 'the path of a file',
  fixtures: 'the path of a file',
};

const maxTests = 100;

/**
 * Reads the `test` key of a project file.
 *
 * @param unknown called for each key without a meaning
 */
export function readTests(
  value: unknown,
  dialect: TestDialect,
  fault: Fault,
  unknown: (keys: readonly string[]) => void,
): TestSetting[] {
  if (!Array.isArray(value) || !value.every(isTable))
    throw fault(['test'], '"test" is a list: write [[test]] above each.');
  if (value.length > maxTests)
    throw fault(['test'], `there are ${value.length} tests; at most ${maxTests} are possible.`);
  return value.map((table, at) =>
    readTest(
      table,
      dialect,
      (keys, what) => fault(['test', String(at), ...keys], what),
      (key) => unknown(['test', String(at), key]),
    ),
  );
}

function readTest(
  table: Readonly<Record<string, unknown>>,
  { keys, hasLines }: TestDialect,
  fault: Fault,
  unknown: (key: string) => void,
): TestSetting {
  const test: { -readonly [Key in keyof TestSetting]: TestSetting[Key] } = {};
  for (const [key, value] of Object.entries(table)) {
    const field = Object.hasOwn(keys, key) ? keys[key] : undefined;
    if (field === undefined) {
      unknown(key);
    } else if (field === 'mockInput') {
      test.mockInput = readMockInput(key, value, fault);
    } else if (typeof value === 'string' && isText(value, field === 'build' && hasLines)) {
      test[field] = value;
    } else {
      throw fault([key], `"test.${key}" expects ${texts[field]}, and is ${shown(value)}.`);
    }
  }
  if ((test.with === undefined) === (test.fixtures === undefined)) {
    const names = Object.entries(keys).flatMap(([key, field]) =>
      field === 'with' || field === 'fixtures' ? [key] : [],
    );
    throw fault([], `a test needs ${names.length === 1 ? names[0] : `either ${names.join(' or ')}`}.`);
  }
  return test;
}

function readMockInput(key: string, value: unknown, fault: Fault): { data: string } | { file: string } {
  const { data, file, ...rest } = isTable(value) ? value : {};
  if (Object.keys(rest).length === 0) {
    if (typeof data === 'string' && file === undefined) return { data };
    if (typeof file === 'string' && data === undefined && isText(file, false)) return { file };
  }
  throw fault([key], `"test.${key}" expects { data = "…" } or { file = "…" }, and is ${shown(value)}.`);
}

/** Whether a text is a path or a command that can be shown as it is, before it is run. */
export function isText(text: string, hasLines: boolean): boolean {
  const checked = hasLines ? text.replace(/\r?\n|\t/g, '') : text;
  return checked.trim() !== '' && text.length <= 4096 && !/[\0-\x1f\x7f-\x9f\u2028\u2029]/.test(checked);
}

export function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !(value instanceof Date) && !Array.isArray(value);
}

/** A value of a project file, for messages. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.length > 100 ? `${value.slice(0, 100)}…` : value);
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'a table or a date' : String(value);
}
