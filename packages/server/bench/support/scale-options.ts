import { appendFileSync } from 'node:fs';
import { choose, OptionError, parse, readCount, readSeconds } from './options.ts';
import { type StoreName, storeNames } from './stores.ts';

export interface ScaleOptions {
  /** How many guest keys there are, one after the other. */
  readonly sizes: readonly number[];
  readonly stores: readonly StoreName[];
  readonly seconds: number;
  readonly rounds: number;
  readonly isJson: boolean;
  /** A file that can be written to. */
  readonly svg: string | undefined;
}

export const help = `What a binding list costs as guest keys grow in number.

  --keys <n,n,…>    how many there are, one after the other; 1000,10000,100000 without it
                    (1000000 takes 8 GB of disk, and some minutes to be filled in)
  --store <store>   ${storeNames.join(' or ')}; both without it
  --seconds <n>     how long a round lasts; 2 without it
  --rounds <n>      rounds that count; 3 without it
  --quick           a thousand keys alone
  --json            one JSON document on standard output, and no tables
  --svg <file>      draws it as curves, too
`;

/**
 * Reads the command line.
 *
 * @returns `'help'` where that is asked for
 * @throws OptionError
 */
export function readScaleOptions(args: readonly string[]): ScaleOptions | 'help' {
  const values = parse(args, {
    keys: { type: 'string', default: '1000,10000,100000' },
    store: { type: 'string', multiple: true },
    seconds: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '3' },
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    svg: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  });
  if (values.help) return 'help';
  return {
    sizes: values.quick ? [1000] : values.keys.split(',').map(readSize),
    stores: choose('--store', values.store, storeNames),
    seconds: readSeconds(values.seconds),
    rounds: readCount('--rounds', values.rounds),
    isJson: values.json,
    svg: values.svg === undefined ? undefined : assertWritable(values.svg),
  };
}

function readSize(text: string): number {
  const size = Number(text);
  if (/^\d+$/.test(text) && size >= 1 && Number.isSafeInteger(size)) return size;
  throw new OptionError(`--keys "${text}": expected whole numbers above 0, separated by commas`);
}

/** Before a quarter of an hour is spent on what could not be kept. */
function assertWritable(file: string): string {
  try {
    appendFileSync(file, '');
    return file;
  } catch (error) {
    throw new OptionError(`--svg "${file}": ${error instanceof Error ? error.message : error}`, { cause: error });
  }
}
