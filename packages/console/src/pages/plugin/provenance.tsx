import type { Attestation, Version } from '@tenon/protocol';
import { visible } from '@tenon/trace/unsafe-characters';
import { useState } from 'preact/hooks';
import { saveBlob } from '../../api/save-blob.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Time } from '../../components/time.tsx';
import { useApi } from '../../state/services.ts';
import { useData } from '../../state/use-data.ts';
import { kindWords, provenanceBadges, provenanceWords, signerFacts, webUrl } from './provenance-words.ts';

/** The state of a version's provenance. */
export function ProvenanceBadge({ version: { provenance } }: { readonly version: Pick<Version, 'provenance'> }) {
  return <Badge kind={provenanceBadges[provenance]}>{provenanceWords[provenance]}</Badge>;
}

interface DetailsProps {
  /** The version's path in the API. */
  readonly versionPath: string;
  /** A phrase such as "version 3". */
  readonly of: string;
  /** The start of the names of saved files. */
  readonly fileName: string;
}

/** A version's attestations. Fetched when it is opened. */
export function ProvenanceDetails({ of, ...rest }: DetailsProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="version-diff" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        Provenance<span class="visually-hidden"> of {of}</span>
      </summary>
      {isOpen ? <FetchedAttestations {...rest} /> : null}
    </details>
  );
}

function FetchedAttestations({ versionPath, fileName }: Omit<DetailsProps, 'of'>) {
  const api = useApi();
  const path = `${versionPath}/attestations`;
  const list = useData((signal) => api.get<{ objects: Attestation[] }>(path, { signal }), [path]);
  return (
    <div class="stack" aria-live="polite">
      <Loaded of={list}>
        {({ objects }) => (
          <>
            {objects.some(({ kind }) => kind === 'provenance') ? null : (
              <p class="soft">No provenance of a build is attached.</p>
            )}
            {objects.map((attestation) => (
              <AttestationView key={attestation.id} attestation={attestation} fileName={fileName} />
            ))}
          </>
        )}
      </Loaded>
    </div>
  );
}

function AttestationView({ attestation, fileName }: { readonly attestation: Attestation; readonly fileName: string }) {
  const { kind, state, detail, signer, createdAt, bundle } = attestation;
  const runUrl = webUrl(signer?.runUrl ?? null);
  const save = (): void =>
    saveBlob(new Blob([JSON.stringify(bundle)], { type: 'application/json' }), `${fileName}-${kind}.sigstore.json`);
  return (
    <div class="stack">
      <h4>
        {kindWords[kind]} <Badge kind={provenanceBadges[state]}>{state}</Badge>
      </h4>
      {detail === null ? null : <p>{visible(detail)}</p>}
      <dl class="facts">
        {signerFacts(attestation).map(([term, text]) => (
          <div key={term}>
            <dt>{term}</dt>
            <dd class="breakable">{visible(text)}</dd>
          </div>
        ))}
        <div>
          <dt>{kind === 'publish' ? 'Signed' : 'Attached'}</dt>
          <dd>
            <Time at={createdAt} />
          </dd>
        </div>
      </dl>
      <div class="actions">
        {runUrl === undefined ? null : (
          <a href={runUrl} target="_blank" rel="noopener noreferrer nofollow ugc">
            CI run
          </a>
        )}
        <Button
          kind="quiet"
          isSmall
          label={`Download the ${kindWords[kind].toLowerCase()} of ${fileName}`}
          onClick={save}
        >
          Download
        </Button>
      </div>
    </div>
  );
}
