import type { Version } from '@tenon/protocol';
import { visible } from '@tenon/trace/unsafe-characters';
import { useState } from 'preact/hooks';
import { saveBlob } from '../../api/save-blob.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { counted } from '../../components/count.ts';
import { Loaded } from '../../components/loaded.tsx';
import { useApi } from '../../state/services.ts';
import { useData } from '../../state/use-data.ts';
import type { Sbom } from './read-sbom.ts';
import './version-diff.css';

interface SbomProps {
  /** The version's path in the API. */
  readonly versionPath: string;
  readonly version: Version;
  /** The plugin's name. */
  readonly name: string;
}

/** How many components are listed. */
const maxListed = 50;

/** The bill of materials of a version. Fetched when it is opened. */
export function SbomDetails(props: SbomProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="version-diff" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        Bill of materials<span class="visually-hidden"> of version {props.version.number}</span>
      </summary>
      {isOpen ? <FetchedSbom {...props} /> : null}
    </details>
  );
}

function FetchedSbom({ versionPath, version, name }: SbomProps) {
  const api = useApi();
  const sbom = useData(
    async (signal) => {
      // It contains the reader of modules, which the page needs only here.
      const { readSbom } = await import('./read-sbom.ts');
      return readSbom(api, versionPath, version, name, signal);
    },
    [versionPath, version.contentAddress],
  );
  return (
    <div class="stack" aria-live="polite">
      <Loaded of={sbom}>
        {(found) =>
          found === undefined ? (
            <p class="soft small">
              The publisher has attached none, and the module has no <code>producers</code> section.
            </p>
          ) : (
            <SbomView sbom={found} fileName={`${name}-${version.number}.cdx.json`} />
          )
        }
      </Loaded>
    </div>
  );
}

function SbomView({ sbom, fileName }: { readonly sbom: Sbom; readonly fileName: string }) {
  const { source, isVerified, detail, document, names } = sbom;
  const save = () => saveBlob(new Blob([JSON.stringify(document, null, 2)], { type: 'application/json' }), fileName);
  return (
    <>
      {source === 'attached' ? (
        <p>
          <Badge kind={isVerified ? 'good' : 'bad'}>{isVerified ? 'attached' : 'signature failed'}</Badge>{' '}
          {isVerified ? 'Attached by the publisher. ' : null}
          {detail ?? 'The server verified its signature.'}
        </p>
      ) : (
        <p>
          <Badge kind="plain">read from producers</Badge> The module names the languages, tools, and SDKs that made it,
          and no libraries.
        </p>
      )}
      <ul>
        {names.slice(0, maxListed).map((each) => (
          <li key={each}>{visible(each)}</li>
        ))}
      </ul>
      {names.length > maxListed ? <p class="soft small">And {counted(names.length - maxListed, 'other')}.</p> : null}
      <p>
        <Button kind="quiet" isSmall onClick={save} label={`Download ${fileName}`}>
          Download
        </Button>
      </p>
    </>
  );
}
