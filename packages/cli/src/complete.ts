import type { Argument, Command, Option } from 'commander';
import type { ConnectionOptions } from './server-choice.ts';

/** One completion of the word at the cursor. */
export interface Candidate {
  readonly value: string;
  readonly description: string;
}

/** The options on the line that decide which names there are. */
export interface LineOptions extends ConnectionOptions {
  readonly app?: string;
  readonly extensionPoint?: string;
  readonly project?: string;
}

/** Lists the names of one kind, such as `app`, that may complete a word; none for a kind that has no names. */
export type ListNames = (kind: string, options: LineOptions, word: string) => Promise<readonly Candidate[]>;

/** The state of the command line before the cursor. */
interface Line {
  readonly command: Command;
  readonly operands: number;
  readonly options: Readonly<Record<string, string>>;
  /** The option whose value is being typed. */
  readonly pending: Option | undefined;
  /** Whether `--` ended the options. */
  readonly isLiteral: boolean;
}

/**
 * Completes a command line.
 *
 * @param program with the commands that the words name loaded
 * @param words what follows `tenon`; the last one is being typed and may be empty
 */
export async function complete(
  program: Command,
  words: readonly string[],
  listNames: ListNames,
): Promise<readonly Candidate[]> {
  const wanted = words[0] === 'help' && words.length > 1 ? words.slice(1) : words;
  const line = readLine(program, wanted.slice(0, -1));
  const word = wanted.at(-1) ?? '';
  const assignment = /^(--[^=]+=)(.*)$/s.exec(word);
  if (line.pending !== undefined) return matching(await valuesOf(line.pending, line, word, listNames), word);
  if (assignment !== null && !line.isLiteral) {
    const [, flag = '', value = ''] = assignment;
    const option = findOption(line.command, flag.slice(0, -1));
    const values = option === undefined ? [] : await valuesOf(option, line, value, listNames);
    return matching(values, value).map((found) => ({ ...found, value: flag + found.value }));
  }
  if (word.startsWith('-') && !line.isLiteral) return matching(flagsOf(line.command), word);
  if (line.command.commands.length > 0) return matching(commandsOf(line.command), word);
  const argument = argumentAt(line.command, line.operands);
  if (argument !== undefined) return matching(await valuesOf(argument, line, word, listNames), word);
  return line.isLiteral || word !== '' ? [] : flagsOf(line.command);
}

function readLine(program: Command, words: readonly string[]): Line {
  let command = program;
  let operands = 0;
  let pending: Option | undefined;
  let isLiteral = false;
  const options: Record<string, string> = {};
  for (const word of words) {
    const [flag = '', value] = word.startsWith('--') ? splitOnce(word) : [word];
    if (pending !== undefined) {
      options[pending.attributeName()] = word;
      pending = undefined;
    } else if (word === '--' && !isLiteral) isLiteral = true;
    else if (word.startsWith('-') && word !== '-' && !isLiteral) {
      const option = findOption(command, flag);
      if (option !== undefined && takesValue(option)) {
        if (value === undefined) pending = option;
        else options[option.attributeName()] = value;
      }
    } else {
      const next = command.commands.find((candidate) => [candidate.name(), ...candidate.aliases()].includes(word));
      if (next === undefined) operands += 1;
      else command = next;
    }
  }
  return { command, operands, options, pending, isLiteral };
}

function splitOnce(word: string): readonly [string, string?] {
  const at = word.indexOf('=');
  return at < 0 ? [word] : [word.slice(0, at), word.slice(at + 1)];
}

function takesValue({ required, optional }: Option): boolean {
  return required || optional;
}

function findOption(command: Command, flag: string): Option | undefined {
  return command.options.find(({ short, long }) => short === flag || long === flag);
}

function flagsOf(command: Command): Candidate[] {
  return command
    .createHelp()
    .visibleOptions(command)
    .map(({ long, short, description }) => ({ value: long ?? short ?? '', description }));
}

function commandsOf(command: Command): Candidate[] {
  return command
    .createHelp()
    .visibleCommands(command)
    .map((child) => ({ value: child.name(), description: child.summary() || child.description() }));
}

function argumentAt({ registeredArguments }: Command, index: number): Argument | undefined {
  const last = registeredArguments.at(-1);
  return registeredArguments[index] ?? (last?.variadic ? last : undefined);
}

/** The choices that an option or argument declares, else the names of the kind that its value has. */
async function valuesOf(declared: Option | Argument, { options }: Line, word: string, listNames: ListNames) {
  if (declared.argChoices !== undefined) return declared.argChoices.map((value) => ({ value, description: '' }));
  const kind = 'flags' in declared ? /<([^>]+)>/.exec(declared.flags)?.[1] : declared.name();
  return kind === undefined ? [] : listNames(kind, options, word);
}

function matching(candidates: readonly Candidate[], word: string): Candidate[] {
  return candidates.filter(({ value }) => value.startsWith(word));
}
