import type { ComponentChildren } from 'preact';
import { useEffect, useId, useState } from 'preact/hooks';
import { byteSize } from './byte-size.ts';

/**
 * A drop target that is also a file field. Files dropped elsewhere on the page are ignored. With a file, it shows the name and
 * accepts a replacement.
 */
export function DropZone(props: {
  /** What to bring: "Drop a .wasm file here". */
  readonly label: string;
  readonly accept: string;
  /** What will be done with it. */
  readonly hint: string;
  readonly isDisabled?: boolean;
  /** The file that was brought. */
  readonly file?: { readonly name: string; readonly bytes: number };
  /** How far it is with the file. */
  readonly children?: ComponentChildren;
  /** Called with the dropped or chosen files. */
  readonly onFiles: (files: readonly File[]) => void;
}) {
  const { label, accept, hint, isDisabled = false, file, children, onFiles } = props;
  const [isOver, setOver] = useState(false);
  const hintId = useId();
  useFilesKeptOut();

  const give = (list: FileList | null | undefined): void => {
    const files = [...(list ?? [])];
    if (files.length > 0 && !isDisabled) onFiles(files);
  };
  const isTaking = isOver && !isDisabled;
  const classes = ['drop-zone', isTaking ? 'drop-zone-over' : '', file === undefined ? '' : 'drop-zone-full'];
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the field inside does the same by keyboard
    <div
      class={classes.filter((name) => name !== '').join(' ')}
      onDragOver={(event) => {
        event.preventDefault();
        if (event.dataTransfer !== null) event.dataTransfer.dropEffect = isDisabled ? 'none' : 'copy';
        setOver(true);
      }}
      onDragLeave={(event) => {
        // Moving over what is inside leaves and enters again and again.
        const into = event.relatedTarget;
        if (!(into instanceof Node && event.currentTarget.contains(into))) setOver(false);
      }}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        give(event.dataTransfer?.files);
      }}
    >
      <svg class="drop-mark" viewBox="0 0 64 56" width="64" height="56" aria-hidden="true">
        <path class="drop-tenon" d="M14 1h36v16H40v13H24V17H14z" />
        <path class="drop-mortise" d="M3 26h20v13h18V26h20v29H3z" />
      </svg>
      <p class="drop-label">
        {isTaking ? (
          'Drop to add'
        ) : file === undefined ? (
          label
        ) : (
          <>
            <strong>{file.name}</strong> <span class="soft">{byteSize(file.bytes)}</span>
          </>
        )}
      </p>
      <label class="button button-quiet button-small">
        {file === undefined ? 'Choose a file' : 'Choose another file'}
        <input
          class="visually-hidden"
          type="file"
          accept={accept}
          disabled={isDisabled}
          aria-describedby={hintId}
          onChange={(event) => {
            give(event.currentTarget.files);
            event.currentTarget.value = ''; // allows choosing the same file again after a new build
          }}
        />
      </label>
      <p class="soft small" id={hintId}>
        {hint}
      </p>
      {children}
    </div>
  );
}

/** Browsers open a file that is dropped anywhere else, and what one was doing is gone. */
function useFilesKeptOut(): void {
  useEffect(() => {
    const keepOut = (event: DragEvent): void => {
      if (event.defaultPrevented || !event.dataTransfer?.types.includes('Files')) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = 'none';
    };
    addEventListener('dragover', keepOut);
    addEventListener('drop', keepOut);
    return () => {
      removeEventListener('dragover', keepOut);
      removeEventListener('drop', keepOut);
    };
  }, []);
}
