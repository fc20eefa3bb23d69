import { nearestWord } from '@tenon/extension-schema/nearest-word';
import type { Fixture } from '@tenon/protocol';
import type { TextFault } from '../schema-editor/check-schema.ts';
import { type FixturePlace, fixtureKeys, type KnownNames } from './fixture-keys.ts';
import { parseJson, pointerTo, type TextRange } from './json-text.ts';

export type CheckedFixtures =
  | { readonly isSound: true; readonly fixtures: readonly Fixture[] }
  | { readonly isSound: false; readonly faults: readonly TextFault[] };

/** Finds what the server would refuse, while one types. The server decides. */
export function checkFixtures(text: string, names: KnownNames): CheckedFixtures {
  const parsed = parseJson(text);
  const place = faultMaker(text);
  if (!parsed.isSound) return { isSound: false, faults: [place(parsed.detail, parsed.range)] };
  const found: Found[] = [];
  checkList(parsed.value, names, (pointer, detail) => found.push({ pointer, detail }));
  if (found.length === 0) return { isSound: true, fixtures: parsed.value as Fixture[] };
  return { isSound: false, faults: placed(found, parsed.ranges, place) };
}

/** Puts faults that the server found at their places in the text. `pointer` is relative to the list of fixtures. */
export function placeFaults(text: string, found: readonly Found[]): readonly TextFault[] {
  const parsed = parseJson(text);
  return parsed.isSound ? placed(found, parsed.ranges, faultMaker(text)) : [];
}

interface Found {
  /** A JSON pointer; with `#key`, of the key. */
  readonly pointer: string;
  readonly detail: string;
}

function placed(
  found: readonly Found[],
  ranges: ReadonlyMap<string, TextRange>,
  place: ReturnType<typeof faultMaker>,
): readonly TextFault[] {
  const faults = found.map(({ pointer, detail }) => {
    let at = pointer;
    while (!ranges.has(at) && at !== '') at = at.slice(0, Math.max(0, at.lastIndexOf('/')));
    return place(detail, ranges.get(at) ?? { from: 0, to: 1 });
  });
  return faults.sort((a, b) => a.from - b.from);
}

/** What is underlined of a long value. */
const maxUnderlined = 60;

function faultMaker(text: string): (detail: string, range: TextRange) => TextFault {
  return (detail, { from, to }) => {
    const before = text.slice(0, from);
    const line = before.split('\n').length;
    const firstLine = text.slice(from, to).split('\n', 1)[0] ?? '';
    return {
      detail,
      from,
      to: from + Math.min(firstLine.length, maxUnderlined),
      line,
      column: from - before.lastIndexOf('\n'),
    };
  };
}

type Report = (pointer: string, detail: string) => void;
type Entries = Readonly<Record<string, unknown>>;

function checkList(value: unknown, names: KnownNames, report: Report): void {
  if (!Array.isArray(value)) {
    report('', 'expected a list of fixtures: [ { "export": …, "expect": … } ]');
    return;
  }
  if (value.length === 0) report('', 'expected one fixture or more');
  for (const [index, item] of value.entries()) checkFixture(item, `/${index}`, names, report);
}

function checkFixture(value: unknown, pointer: string, names: KnownNames, report: Report): void {
  if (!checkKeys(value, 'fixture', pointer, ['export', 'expect'], report)) return;
  for (const key of ['name', 'export', 'input', 'inputBase64']) {
    if (value[key] !== undefined && typeof value[key] !== 'string')
      report(pointerTo(pointer, key), key === 'input' ? inputHint(value[key]) : `"${key}" must be a text`);
  }
  if (value.input !== undefined && value.inputBase64 !== undefined)
    report(`${pointer}/inputBase64#key`, 'use either "input" or "inputBase64"');
  checkName(value.export, names.exports, `${pointer}/export`, 'an export', report);
  checkExpectation(value.expect, `${pointer}/expect`, report);
  if (value.hostCalls === undefined) return;
  if (!Array.isArray(value.hostCalls)) report(`${pointer}/hostCalls`, '"hostCalls" must be a list');
  else
    for (const [index, call] of value.hostCalls.entries())
      checkHostCall(call, `${pointer}/hostCalls/${index}`, names, report);
}

function checkHostCall(value: unknown, pointer: string, names: KnownNames, report: Report): void {
  if (!checkKeys(value, 'hostCall', pointer, ['name'], report)) return;
  checkName(value.name, names.imports, `${pointer}/name`, 'an import', report);
  if (value.args !== undefined && !Array.isArray(value.args)) report(`${pointer}/args`, '"args" must be a list');
}

function inputHint(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > maxUnderlined
    ? '"input" must be a text; JSON goes into one with its quotation marks escaped'
    : `"input" must be a text; for this JSON, write ${JSON.stringify(text)}`;
}

function checkExpectation(value: unknown, pointer: string, report: Report): void {
  if (value === undefined || !checkKeys(value, 'expect', pointer, [], report)) return;
  if (Object.keys(value).length === 0)
    report(pointer, `expected at least one of ${Object.keys(fixtureKeys.expect).join(', ')}`);
  const { matchesSchema, fails, equals } = value;
  if (matchesSchema !== undefined && typeof matchesSchema !== 'boolean')
    report(`${pointer}/matchesSchema`, '"matchesSchema" must be true or false');
  if (fails !== undefined && typeof fails !== 'boolean' && typeof fails !== 'string')
    report(`${pointer}/fails`, '"fails" must be true, false, or a text');
  const isBytes = isRecord(equals) && typeof equals.base64 === 'string' && Object.keys(equals).length === 1;
  if (equals !== undefined && typeof equals !== 'string' && !isBytes)
    report(`${pointer}/equals`, '"equals" must be a text or { "base64": … }; for JSON, use "jsonSubset"');
}

function checkName(value: unknown, known: readonly string[], pointer: string, what: string, report: Report): void {
  if (typeof value !== 'string' || known.length === 0 || known.includes(value)) return;
  const nearest = nearestWord(value, known);
  report(
    pointer,
    `${JSON.stringify(value)} is not ${what} of the schema${nearest === undefined ? '' : `; did you mean "${nearest}"?`}`,
  );
}

/** Whether a value is an object. Reports another kind of value, unknown keys, and missing keys. */
function checkKeys(
  value: unknown,
  place: FixturePlace,
  pointer: string,
  required: readonly string[],
  report: Report,
): value is Entries {
  if (!isRecord(value)) {
    report(pointer, 'expected an object');
    return false;
  }
  const known = Object.keys(fixtureKeys[place]);
  for (const key of Object.keys(value)) {
    if (known.includes(key)) continue;
    const nearest = nearestWord(key, known);
    const hint = nearest === undefined ? `expected one of ${known.join(', ')}` : `did you mean "${nearest}"?`;
    report(`${pointerTo(pointer, key)}#key`, `there is no key ${JSON.stringify(key)}; ${hint}`);
  }
  for (const key of required) if (value[key] === undefined) report(pointer, `"${key}" is missing`);
  return true;
}

function isRecord(value: unknown): value is Entries {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
