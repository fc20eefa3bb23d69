/** Returns the commands that copy a version with skopeo. `isSecure` says whether the registry uses TLS. */
export function copyCommands(reference: string, fileName: string, isSecure: boolean): string {
  const [registry = ''] = reference.split('/', 1);
  const [login, copy] = isSecure ? ['', ''] : ['--tls-verify=false ', '--src-tls-verify=false '];
  return [
    `skopeo login ${login}--username tenon ${registry}`,
    `skopeo copy ${copy}docker://${reference} oci-archive:${fileName}`,
  ].join('\n');
}
