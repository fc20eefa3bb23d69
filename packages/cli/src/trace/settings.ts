import { InvalidArgumentError } from 'commander';
import { usageError } from '../errors.ts';
import { printable } from '../text.ts';

/** Reads `--env`: `NAME=value`, or `NAME` for what the own environment has. @throws CliError `usage` */
export function readEnvironmentFlags(
  flags: readonly string[],
  own: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  return Object.fromEntries(
    flags.map((flag) => {
      const [name, value = own[name]] = splitOnce(flag, '=');
      if (name === '') throw usageError(`--env takes NAME=value, and "${printable(flag)}" came.`);
      if (value === undefined) throw usageError(`--env ${printable(name)}: there is no such variable here to hand on.`);
      return [name, value];
    }),
  );
}

/** Reads `--dir`: `folder`, or `folder::path` for another path to see it under. @returns folders by these paths */
export function readFolderFlags(flags: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    flags.map((flag) => {
      const [folder, path = folder] = splitOnce(flag, '::');
      if (folder === '' || path === '')
        throw usageError(`--dir takes a folder, or folder::path, and "${printable(flag)}" came.`);
      return [path, folder];
    }),
  );
}

/** Reads `--plugin-config`: `key=value`. @throws CliError `usage` */
export function readPluginConfig(flags: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    flags.map((flag): [string, string] => {
      const [key, value] = splitOnce(flag, '=');
      if (value === undefined || key === '') {
        throw usageError(`--plugin-config takes key=value, and "${printable(flag)}" came.`);
      }
      return [key, value];
    }),
  );
}

function splitOnce(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + separator.length)];
}

/** Collects the values of an option that may be given several times, each as it stands. */
export function collectAll(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}

/** For an option that takes a whole number. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d+$/.test(text) || value < least || value > most) {
      throw new InvalidArgumentError(`It takes a whole number from ${least} to ${most}.`);
    }
    return value;
  };
}
