// SPDX-License-Identifier: BSD-3-Clause
// One script and one style sheet for each page, which the program embeds and writes into each report:
// the report's, and with --mode verdict that of a verdict.
import { defineConfig } from "vite";

const PAGES = { index: "src/main.tsx", verdict: "src/verdict/main.tsx" };

export default defineConfig(({ mode }) => {
  const page = mode === "verdict" ? "verdict" : "index";
  return {
    esbuild: { jsx: "automatic", jsxImportSource: "preact", legalComments: "none" },
    build: {
      outDir: process.env.OUT_DIR ?? "../../../build/viewer",
      emptyOutDir: false,
      target: "es2022",
      cssCodeSplit: false,
      modulePreload: false,
      reportCompressedSize: false,
      lib: { entry: PAGES[page], name: "ucxbpf", formats: ["iife"], fileName: () => `${page}.js` },
      rollupOptions: { output: { assetFileNames: `${page}.[ext]` } },
    },
    define: { "process.env.NODE_ENV": '"production"' },
    logLevel: "warn",
  };
});
