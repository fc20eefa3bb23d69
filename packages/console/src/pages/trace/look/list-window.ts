/*
 * Of a list of a million rows those are drawn that one sees. Browsers draw nothing higher than some 17 million pixels, so what is
 * scrolled through is no higher than that by far, and in a longer list a pixel of it stands for more than one of the list.
 */

/** The height of what is scrolled through, at the most. */
const maxScrollHeight = 8_000_000;

/** A few rows beyond the edges, so that nothing is empty while one scrolls. */
const overscan = 6;

export interface ListSize {
  readonly rows: number;
  readonly rowHeight: number;
  /** Height of the window through which one sees the list. */
  readonly height: number;
}

export interface ListWindow {
  readonly scrollHeight: number;
  /** The rows to draw: from `first` up to, and without, `end`. */
  readonly first: number;
  readonly end: number;
  /** Where the first of them is to be put, from the top of what is scrolled through. */
  readonly offset: number;
}

export function listWindow(size: ListSize, scrollTop: number): ListWindow {
  const { rows, rowHeight, height } = size;
  const top = listTop(size, scrollTop);
  const first = Math.max(0, Math.floor(top / rowHeight) - overscan);
  const end = Math.min(rows, Math.ceil((top + height) / rowHeight) + overscan);
  return { scrollHeight: scrollHeight(size), first, end, offset: scrollTop + first * rowHeight - top };
}

/** How far to scroll so that a row is seen; what it is now where that does already. */
export function scrollToRow(size: ListSize, scrollTop: number, row: number): number {
  const { rowHeight, height } = size;
  const top = listTop(size, scrollTop);
  const from = row * rowHeight;
  if (from >= top && from + rowHeight <= top + height) return scrollTop;
  const wanted = from < top ? from : from + rowHeight - height;
  return Math.max(0, wanted / pixelsPerPixel(size));
}

function listTop(size: ListSize, scrollTop: number): number {
  const most = Math.max(0, size.rows * size.rowHeight - size.height);
  return Math.min(most, Math.max(0, scrollTop * pixelsPerPixel(size)));
}

function scrollHeight({ rows, rowHeight }: ListSize): number {
  return Math.min(maxScrollHeight, rows * rowHeight);
}

/** So many pixels of the list a scrolled pixel stands for. */
function pixelsPerPixel(size: ListSize): number {
  const whole = size.rows * size.rowHeight;
  return whole <= maxScrollHeight ? 1 : (whole - size.height) / (maxScrollHeight - size.height);
}
