import { visible } from '@tenon/trace/unsafe-characters';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { byteSize } from '../../../components/byte-size.ts';
import { counted } from '../../../components/count.ts';
import { useAnswer } from '../look/use-answer.ts';
import type { Subject } from '../look/use-module.ts';
import { type SizeTile, sizeMap } from './size-tiles.ts';

/** So many functions have a tile of their own. */
const maxTiles = 240;

/** Below that, a tile has no room for a word. */
const minLabelWidth = 46;
const minLabelHeight = 17;

/** What the module's code is made of: a tile for each of the biggest functions. The list below it says the same. */
export function SizePicture({
  subject,
  onPick,
}: {
  readonly subject: Subject;
  readonly onPick: (name: string) => void;
}) {
  const { table, looker } = subject;
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  const height = Math.round(Math.min(340, Math.max(200, width * 0.42)));
  const biggest = useAnswer(() => looker.ask({ kind: 'find', text: '', order: 'size' }), [looker], 0).value;
  const map = useMemo(
    () =>
      biggest === undefined ? undefined : sizeMap(table, biggest.subarray(0, maxTiles), { x: 0, y: 0, width, height }),
    [table, biggest, width, height],
  );
  if (table.count === table.importedCount) return null;
  return (
    <div ref={frame} class="size-picture">
      {map === undefined ? null : (
        <>
          <svg
            width={width}
            height={height}
            viewBox={`0 0 ${width} ${height}`}
            role="img"
            aria-label="The biggest functions as tiles, each as large as its share of the code. The list below has them in the same order."
          >
            {map.tiles.map((tile, at) => (
              <Tile key={at} tile={tile} onPick={onPick} />
            ))}
          </svg>
          {map.groups.length < 2 ? null : (
            <ul class="size-legend small soft">
              {map.groups.map(({ name, bytes, colour }) => (
                <li key={name}>
                  <svg width="10" height="10" viewBox="0 0 10 10" aria-hidden="true">
                    <rect class={`tile-${colour}`} width="10" height="10" />
                  </svg>{' '}
                  <span class="size-group">{name}</span> {byteSize(bytes)}
                </li>
              ))}
            </ul>
          )}
        </>
      )}
    </div>
  );
}

function Tile({ tile, onPick }: { readonly tile: SizeTile; readonly onPick: (name: string) => void }) {
  const { x, y, width, height, name, bytes, functions, colour } = tile;
  const words = name === undefined ? counted(functions, 'smaller function') : visible(name.slice(0, 300));
  const hasLabel = width >= minLabelWidth && height >= minLabelHeight;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the search below does the same by keyboard
    <g
      class={name === undefined ? 'tile' : 'tile tile-named'}
      onClick={name === undefined ? undefined : () => onPick(name)}
    >
      <title>{`${words}, ${byteSize(bytes)}`}</title>
      <rect class={`tile-${colour}`} x={x} y={y} width={width} height={height} />
      {hasLabel ? (
        <text x={x + 5} y={y + 13}>
          {fitting(words, width - 8)}
        </text>
      ) : null}
    </g>
  );
}

/** As much of a name as fits, by the width that letters have on average. */
function fitting(words: string, width: number): string {
  const letters = Math.floor(width / 6.1);
  return words.length <= letters ? words : `${words.slice(0, Math.max(1, letters - 1))}…`;
}

function useWidth(element: { readonly current: HTMLElement | null }): number {
  const [width, setWidth] = useState(640);
  useLayoutEffect(() => {
    if (element.current !== null) setWidth(element.current.clientWidth);
  }, []);
  useEffect(() => {
    const { current } = element;
    if (current === null) return;
    const observer = new ResizeObserver(() => setWidth(current.clientWidth));
    observer.observe(current);
    return () => observer.disconnect();
  }, []);
  return width;
}
