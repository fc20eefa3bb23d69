import { visible } from '@tenon/trace/unsafe-characters';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { byteSize } from '../../../components/byte-size.ts';
import { counted } from '../../../components/count.ts';
import { useAnswer } from '../inspect/use-answer.ts';
import type { LoadedModule } from '../inspect/use-module.ts';
import { layoutSizes, type SizeTile } from './size-tiles.ts';

/** The largest functions have a tile each. */
const maxTiles = 240;

/** Smaller tiles have no label. */
const minLabelWidth = 46;
const minLabelHeight = 17;

/** The module's code as tiles of the largest functions. The list below has the same information. */
export function SizeMap({
  loaded,
  onPick,
}: {
  readonly loaded: LoadedModule;
  readonly onPick: (name: string) => void;
}) {
  const { table, inspector } = loaded;
  const frame = useRef<HTMLDivElement>(null);
  const width = useWidth(frame);
  const height = Math.round(Math.min(340, Math.max(200, width * 0.42)));
  const biggest = useAnswer(() => inspector.ask({ kind: 'find', text: '', order: 'size' }), [inspector], 0).value;
  const map = useMemo(
    () =>
      biggest === undefined
        ? undefined
        : layoutSizes(table, biggest.subarray(0, maxTiles), { x: 0, y: 0, width, height }),
    [table, biggest, width, height],
  );
  if (table.count === table.importedCount) return null;
  return (
    <div ref={frame} class="size-map">
      {map === undefined ? null : (
        <>
          <svg
            width={width}
            height={height}
            viewBox={`0 0 ${width} ${height}`}
            role="img"
            aria-label="The largest functions as tiles, sized by their share of the code. The list below has them in the same order."
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
    // biome-ignore lint/a11y/noStaticElementInteractions: the keyboard uses the search below
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

/** The part of a label that fits, by the average width of letters. */
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
