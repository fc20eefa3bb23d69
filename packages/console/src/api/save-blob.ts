/**
 * Has the browser save something that was fetched: a plain link can't fetch it, since the API takes no cookies.
 *
 * @param fileName as the browser proposes it
 */
export function saveBlob(blob: Blob, fileName: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = fileName;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000); // a browser may read it only once the person has said where to save it
}
