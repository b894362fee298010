/** The program as few files; each command stays a chunk of its own, loaded when it runs. */
export default {
  input: { main: 'dist/main.js' },
  platform: 'node',
  output: { dir: 'bundle', cleanDir: true },
};
