import type { Version } from '@tenon/protocol';
import { ociReferencesOf } from '@tenon/protocol/oci-names';
import { useState } from 'preact/hooks';
import { CommandBlock } from '../../components/command-block.tsx';
import { DocsLink } from '../../components/docs-link.tsx';
import { Link } from '../../components/link.tsx';
import { copyCommands } from './oci-words.ts';
import './version-diff.css';

interface OciProps {
  readonly version: Version;
  /** The plugin's name. */
  readonly name: string;
  readonly isBlocked: boolean;
}

/** The references by which OCI clients pull a version, with commands. */
export function OciDetails(props: OciProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="version-diff" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        OCI reference<span class="visually-hidden"> of version {props.version.number}</span>
      </summary>
      {isOpen ? <OciReferences {...props} /> : null}
    </details>
  );
}

function OciReferences({ version, name, isBlocked }: OciProps) {
  const { byTag, byDigest } = ociReferencesOf(version.oci, isBlocked);
  const isSecure = location.protocol === 'https:';
  const fileName = `${name}-${version.number}.tar`;
  return (
    <div class="stack">
      <div>
        <h4>By tag</h4>
        {byTag === undefined ? (
          <p class="soft">{isBlocked ? 'A blocked plugin has no tags.' : 'Only published versions have tags.'}</p>
        ) : (
          <CommandBlock command={byTag} what="the reference by tag" />
        )}
      </div>
      <div>
        <h4>By digest</h4>
        <CommandBlock command={byDigest} what="the reference by digest" />
      </div>
      <div>
        <h4>Copy it into an archive</h4>
        <CommandBlock command={copyCommands(byTag ?? byDigest, fileName, isSecure)} what="the commands" />
        <p class="small soft">
          The password is an <Link to="/account/tokens">access token</Link> with the scope <code>read</code>. More about{' '}
          <DocsLink page="how-to/oci">OCI clients</DocsLink>.
        </p>
      </div>
    </div>
  );
}
