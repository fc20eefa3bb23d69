import { InstrumentError } from '../errors.ts';
import { maxPatternBytes, maxPatternComparisons, maxPatterns } from '../limits.ts';

/** Tokens of a compiled pattern: a byte, or one of these. */
const anyRun = -1;
const anyCharacter = -2;

/** Reports the patterns that a name matches. A name is a range of UTF-8 bytes. */
export type PatternMatcher = (
  bytes: Uint8Array,
  start: number,
  end: number,
  onMatch: (pattern: string) => void,
) => void;

/** Whether a text has wildcards or escapes. */
export function hasWildcard(text: string): boolean {
  return /[*?\\]/.test(text);
}

/**
 * Matches whole names against patterns, in which `*` matches any number of characters, `?` one character, and `\` escapes
 * the next one. A name takes at most its length times the pattern's comparisons. The limit counts comparisons, not time, so that the result is the
 * same on every machine. Patterns are opt-in, because names contain pattern characters, such as `operator*`.
 *
 * Throws an {@link InstrumentError} with code `invalid_config` for more than {@link maxPatterns} patterns, for a pattern of
 * more than {@link maxPatternBytes}, and after `maxComparisons` for all names together.
 */
export function createPatternMatcher(
  patterns: readonly string[],
  maxComparisons: number = maxPatternComparisons,
): PatternMatcher {
  if (patterns.length > maxPatterns) {
    throw invalidPattern(`Expected at most ${maxPatterns} patterns, found ${patterns.length}`);
  }
  const compiled = patterns.map((pattern) => ({ pattern, tokens: compile(pattern) }));
  const budget = { comparisons: maxComparisons };
  return (bytes, start, end, onMatch) => {
    for (const { pattern, tokens } of compiled) if (matches(tokens, bytes, start, end, budget)) onMatch(pattern);
    if (budget.comparisons < 0) {
      throw invalidPattern(
        `Expected patterns that this module's names can be compared with in ${maxComparisons} steps, found ` +
          `${patterns.length} that take more: use fewer, or ones that begin with more than a "*"`,
      );
    }
  };
}

function compile(pattern: string): Int16Array {
  const bytes = new TextEncoder().encode(pattern);
  if (bytes.length > maxPatternBytes) {
    throw invalidPattern(`Expected a pattern of at most ${maxPatternBytes} bytes, found one of ${bytes.length}`);
  }
  const tokens: number[] = [];
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte === asterisk) {
      if (tokens.at(-1) !== anyRun) tokens.push(anyRun);
    } else if (byte === questionMark) tokens.push(anyCharacter);
    else if (byte === backslash && at + 1 < bytes.length) tokens.push(bytes[++at] as number);
    else tokens.push(byte);
  }
  return Int16Array.from(tokens);
}

const asterisk = 0x2a;
const questionMark = 0x3f;
const backslash = 0x5c;

/**
 * Backtracks to the last `*` only, one byte further on: it can match all that an earlier one could. The time is therefore
 * not exponential.
 */
function matches(
  tokens: Int16Array,
  bytes: Uint8Array,
  start: number,
  end: number,
  budget: { comparisons: number },
): boolean {
  let at = start;
  let token = 0;
  let runToken = -1;
  let runAt = start;
  let comparisons = 0;
  for (;;) {
    if (++comparisons > budget.comparisons) return spend(budget, comparisons, false);
    const wanted = tokens[token];
    if (wanted === anyRun) {
      runToken = token++;
      runAt = at;
      if (token === tokens.length) break;
    } else if (at === end) {
      if (token === tokens.length) break;
      return spend(budget, comparisons, false);
    } else if (wanted === bytes[at]) {
      at++;
      token++;
    } else if (wanted === anyCharacter && !isContinuation(bytes, at, start)) {
      at = endOfCharacter(bytes, at, end);
      token++;
    } else if (runToken !== -1) {
      at = ++runAt;
      token = runToken + 1;
    } else {
      return spend(budget, comparisons, false);
    }
  }
  return spend(budget, comparisons, true);
}

function spend(budget: { comparisons: number }, comparisons: number, result: boolean): boolean {
  budget.comparisons -= comparisons;
  return result;
}

function isContinuation(bytes: Uint8Array, at: number, start: number): boolean {
  return at > start && ((bytes[at] as number) & 0xc0) === 0x80;
}

function endOfCharacter(bytes: Uint8Array, at: number, end: number): number {
  let next = at + 1;
  while (next < end && ((bytes[next] as number) & 0xc0) === 0x80) next++;
  return next;
}

function invalidPattern(message: string): InstrumentError {
  return new InstrumentError('invalid_config', message);
}
