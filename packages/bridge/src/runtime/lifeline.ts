/**
 * Beside a session's shell, and outliving the bridge: it reads descriptor 3, whose other end only the bridge has, and at its
 * end (the bridge was killed by SIGKILL) kills whoever carries the work's mark, until three looks in a row, a moment apart,
 * find nobody: some leave the group or are forked while it looks, and who is just being executed shows no environment. Then
 * it kills the group, itself included. It does not carry the mark. The looks are bounded: what the kernel holds may not die.
 */
const watcher = String.raw`
read -r _ <&3
looks=0 empty=0
while [ $empty -lt 3 ] && [ $((looks += 1)) -le 50 ]; do
  marked=$(grep -lsaz "^SALLYPORT_WORK_ID=$1\$" /proc/[0-9]*/environ)
  if [ -n "$marked" ]; then empty=0; else empty=$((empty + 1)); sleep 0.1; fi
  for f in $marked; do p=${'$'}{f#/proc/}; kill -KILL "${'$'}{p%/environ}"; done
done
kill -KILL "-$2"`;

/**
 * The command line of a session's shell. The watcher is a grandchild, so that the command never waits for it as for a child
 * of its own; it ignores the group's signals and holds none of the pipes.
 */
const watched = String.raw`
( (
  trap '' INT TERM HUP QUIT
  exec env -u SALLYPORT_WORK_ID /bin/sh -c "$2" sh "$SALLYPORT_WORK_ID" $$
) </dev/null >/dev/null 2>&1 & )
exec /bin/sh -c "$1" 3<&-`;

/** Arguments for `/bin/sh`. The shell must lead a process group of its own and have the lifeline as descriptor 3. */
export function withLifeline(command: string): readonly string[] {
  return ['-c', watched, 'sh', command, watcher];
}
