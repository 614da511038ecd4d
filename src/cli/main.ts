#!/usr/bin/env node
import { run } from "./run.js";

// A reader that closes the pipe early (`| head`) is no failure; neither is a lost progress line.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
	if (error.code === "EPIPE") process.exit(0);
	throw error;
});
process.stderr.on("error", () => {});

process.exitCode = await run(process.argv.slice(2), process);
