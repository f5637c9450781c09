;;; raceproof.el --- Races of CUDA, HIP and OpenCL kernels, as they are written -*- lexical-binding: t -*-

;; Version: 0.2.0
;; Package-Requires: ((emacs "26.3") (eglot "1.9"))

;;; Commentary:

;; Put this file on the `load-path' and (require 'raceproof): eglot then asks `raceproof lsp' about .cu, .cuh, .hip, .cl and
;; .ocl files.  M-x eglot-code-actions has the fixes.

;;; Code:

(require 'eglot)
(require 'cc-mode)

(define-derived-mode raceproof-cuda-mode c++-mode "CUDA"
  "C++ with kernels of CUDA or HIP.")

(define-derived-mode raceproof-opencl-mode c-mode "OpenCL"
  "Kernels of OpenCL.")

(add-to-list 'auto-mode-alist '("\\.\\(cuh?\\|hip\\)\\'" . raceproof-cuda-mode))
(add-to-list 'auto-mode-alist '("\\.\\(cl\\|ocl\\)\\'" . raceproof-opencl-mode))

;; What the server calls the languages.
(put 'raceproof-cuda-mode 'eglot-language-id "cuda")
(put 'raceproof-opencl-mode 'eglot-language-id "opencl")

(dolist (mode '(raceproof-cuda-mode raceproof-opencl-mode))
  (add-to-list 'eglot-server-programs (cons mode '("raceproof" "lsp"))))

(add-hook 'raceproof-cuda-mode-hook #'eglot-ensure)
(add-hook 'raceproof-opencl-mode-hook #'eglot-ensure)

(provide 'raceproof)
;;; raceproof.el ends here
