import { createListRequests, type ListRequests, type UnitBase } from './list-requests.ts';
import { addNumber, createNumberList, type NumberList } from './number-list.ts';

/** What entries refer to in other sections: lists, and the places of offsets that follow when these sections change. */
export interface References {
  readonly ranges: ListRequests;
  readonly fixedRanges: ListRequests;
  readonly locations: ListRequests;
  readonly fixedLocations: ListRequests;
  /** Places of offsets in `.debug_line`, `.debug_rnglists`, `.debug_loclists` and `.debug_macro`; see {@link addPlace}. */
  readonly linePlaces: NumberList;
  readonly rangePlaces: NumberList;
  readonly locationPlaces: NumberList;
  readonly macroPlaces: NumberList;
}

export function createReferences(): References {
  const units: UnitBase[] = [];
  return {
    ranges: createListRequests(units),
    fixedRanges: createListRequests(units),
    locations: createListRequests(units),
    fixedLocations: createListRequests(units),
    linePlaces: createNumberList(),
    rangePlaces: createNumberList(),
    locationPlaces: createNumberList(),
    macroPlaces: createNumberList(),
  };
}

/** A place is an offset in a section times 2, plus 1 for an offset of 8 bytes there. */
export function addPlace(places: NumberList, offset: number, size: number): void {
  addNumber(places, 2 * offset + (size === 8 ? 1 : 0));
}
