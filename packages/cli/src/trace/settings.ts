import { type Command, InvalidArgumentError, Option } from 'commander';
import { usageError } from '../errors.ts';
import { readInput } from '../files.ts';
import type { Io } from '../io.ts';
import { printable } from '../text.ts';

/** Parses `--env`: `NAME=value`, or `NAME` for the value in this environment. @throws CliError `usage` */
export function readEnvironmentFlags(
  flags: readonly string[],
  own: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  return Object.fromEntries(
    flags.map((flag) => {
      const [name, value = own[name]] = splitOnce(flag, '=');
      if (name === '') throw usageError(`--env takes NAME=value (got "${printable(flag)}").`);
      if (value === undefined) throw usageError(`--env ${printable(name)}: this environment has no such variable.`);
      return [name, value];
    }),
  );
}

/** Parses `--dir`: `folder`, or `folder::path` for another path in the program. @returns folders by these paths */
export function readFolderFlags(flags: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    flags.map((flag) => {
      const [folder, path = folder] = splitOnce(flag, '::');
      if (folder === '' || path === '')
        throw usageError(`--dir takes a folder or folder::path (got "${printable(flag)}").`);
      return [path, folder];
    }),
  );
}

/** Parses `--plugin-config`: `key=value`. @throws CliError `usage` */
export function readPluginConfig(flags: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    flags.map((flag): [string, string] => {
      const [key, value] = splitOnce(flag, '=');
      if (value === undefined || key === '') {
        throw usageError(`--plugin-config takes key=value (got "${printable(flag)}").`);
      }
      return [key, value];
    }),
  );
}

function splitOnce(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + separator.length)];
}

/** Collects the values of a repeatable option, unchanged. */
export function collectAll(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

/** For an option that takes a whole number. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < least || value > most) {
      throw new InvalidArgumentError(`Expected an integer from ${least} to ${most}.`);
    }
    return value;
  };
}

/** The options that give a plugin its input. */
export interface InputFlags {
  readonly input?: string;
  readonly inputFile?: string;
}

/** Adds `--input`, `--input-file`, and `--plugin-config`. */
export function withPluginInput(command: Command): Command {
  return command
    .addOption(new Option('--input <text>', "a plugin's input").conflicts(['inputFile']))
    .option('--input-file <file>', 'read the input from a file; "-" is stdin')
    .option('--plugin-config <key=value>', "a plugin's configuration; repeatable", collectAll);
}

/** Reads a plugin's input; empty without `--input` and `--input-file`. */
export async function readPluginInput(io: Io, { input, inputFile }: InputFlags): Promise<Uint8Array> {
  if (inputFile === undefined) return new TextEncoder().encode(input ?? '');
  return readInput(io, inputFile, 'the input');
}
