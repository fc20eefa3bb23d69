import { tracePath } from '../state/trace-path.ts';
import { LinkButton } from './button.tsx';

/** Opens a plugin's module on the page that runs modules. */
export function TraceLink(props: {
  /** The file name that the page shows. */
  readonly name: string;
  readonly contentAddress: string;
  /** Whose module it is, for the accessible name. */
  readonly of: string;
}) {
  const { name, contentAddress, of } = props;
  const query = new URLSearchParams({ content: contentAddress, name });
  return (
    <LinkButton kind="quiet" isSmall label={`Open in Trace: ${of}`} to={`${tracePath}?${query}`}>
      Open in Trace
    </LinkButton>
  );
}
