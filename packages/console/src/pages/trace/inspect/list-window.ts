/*
 * Only visible rows of a list are rendered. Browsers limit heights to about 17 million pixels, so the scrolled element is
 * lower than that. In longer lists, a pixel of it stands for several pixels of the list.
 */

/** The maximum height of the scrolled element. */
const maxScrollHeight = 8_000_000;

/** Rows rendered beyond the edges, so that scrolling shows no gaps. */
const overscan = 6;

export interface ListSize {
  readonly rows: number;
  readonly rowHeight: number;
  /** Visible height. */
  readonly height: number;
}

export interface ListWindow {
  readonly scrollHeight: number;
  /** The rows to render: `first` inclusive, `end` exclusive. */
  readonly first: number;
  readonly end: number;
  /** The position of the first row in the scrolled element. */
  readonly offset: number;
}

export function listWindow(size: ListSize, scrollTop: number): ListWindow {
  const { rows, rowHeight, height } = size;
  const top = listTop(size, scrollTop);
  const first = Math.max(0, Math.floor(top / rowHeight) - overscan);
  const end = Math.min(rows, Math.ceil((top + height) / rowHeight) + overscan);
  return { scrollHeight: scrollHeight(size), first, end, offset: scrollTop + first * rowHeight - top };
}

/** The scroll position at which a row is visible: the current one if it already is. */
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
