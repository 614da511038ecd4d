/** Atomic replacement of files and folders, and locks between processes. */
export { contentSha256 } from "./content-sha256.js";
export { type Disk, disk, writeFully } from "./disk.js";
export { holdingLock } from "./process-lock.js";
export { readJson } from "./read-json.js";
export {
	checkFileTarget,
	checkFolderTarget,
	checkWritable,
	replaceFile,
	replaceFolder,
	temporarily,
} from "./replace.js";
export { removeAbandoned, temporaryName } from "./temporary.js";
export { writeJson } from "./write-json.js";
