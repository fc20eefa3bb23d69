import { invalidModule, tooComplex } from '../../errors.ts';
import { addNumber, createNumberList, type NumberList, sortUnique } from './number-list.ts';

/** What the lists of a unit's entries depend on. */
export interface UnitBase {
  /** The unit's low address, from which addresses in lists count. */
  readonly input: number;
  readonly output: number;
  readonly addressSize: number;
  /** Offsets of the unit's tables in `.debug_addr`, `.debug_rnglists` and `.debug_loclists`; -1 without. */
  readonly addresses: number;
  readonly ranges: number;
  readonly locations: number;
}

/** The lists of a section that debugging information entries name, with the units of these entries. */
export interface ListRequests {
  readonly units: UnitBase[];
  readonly numbers: NumberList;
}

/** A list to rewrite. */
export interface RequestedList {
  /** The offset in the section. */
  readonly offset: number;
  readonly unit: UnitBase;
  /** Whether the list is that of a whole function or unit, which includes prologues. */
  readonly isStart: boolean;
}

/** A request is an offset, a unit's index and a flag in one number. */
const maxUnits = 2 ** 20;

export function createListRequests(units: UnitBase[]): ListRequests {
  return { units, numbers: createNumberList() };
}

/** Requests a list for an entry of the last unit. */
export function requestList({ units, numbers }: ListRequests, offset: number, isStart: boolean, at: number): void {
  if (units.length > maxUnits) throw tooComplex('units with lists', units.length, maxUnits, at);
  if (offset >= 2 ** 32) throw invalidModule(`Expected the offset of a list, found ${offset}`, at);
  addNumber(numbers, offset * 2 * maxUnits + 2 * (units.length - 1) + (isStart ? 1 : 0));
}

/** The requested lists, ascending. A list that two units name must mean the same for both. */
export function* requestedLists({ units, numbers }: ListRequests): Generator<RequestedList> {
  let last: RequestedList | undefined;
  for (const number of sortUnique(numbers)) {
    const offset = Math.floor(number / (2 * maxUnits));
    const rest = number - offset * 2 * maxUnits;
    const unit = units[rest >>> 1] as UnitBase;
    const isStart = (rest & 1) === 1;
    if (last?.offset === offset) {
      if (last.unit !== unit && (last.unit.input !== unit.input || last.unit.addresses !== unit.addresses)) {
        throw invalidModule('Expected a list for one unit, found one for two', offset);
      }
      continue;
    }
    last = { offset, unit, isStart };
    yield last;
  }
}
