#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

namespace spectr::http {

/// A self-signed certificate for localhost, valid for an hour, and its key, in two files.
class TemporaryCertificate {
 public:
  TemporaryCertificate() {
    const std::unique_ptr<EVP_PKEY, Free> key(EVP_EC_gen("P-256"));
    const std::unique_ptr<X509, Free> certificate(X509_new());
    X509_set_version(certificate.get(), 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate.get()), 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
    X509_set_pubkey(certificate.get(), key.get());
    X509_NAME* name = X509_get_subject_name(certificate.get());
    const auto* host = reinterpret_cast<const unsigned char*>("localhost");
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, host, -1, -1, 0);
    X509_set_issuer_name(certificate.get(), name);
    X509_sign(certificate.get(), key.get(), EVP_sha256());
    std::FILE* file = std::fopen(certificate_file().c_str(), "w");
    PEM_write_X509(file, certificate.get());
    std::fclose(file);
    file = std::fopen(key_file().c_str(), "w");
    PEM_write_PrivateKey(file, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    std::fclose(file);
  }
  ~TemporaryCertificate() { std::filesystem::remove_all(folder_); }
  TemporaryCertificate(const TemporaryCertificate&) = delete;
  TemporaryCertificate& operator=(const TemporaryCertificate&) = delete;

  std::string certificate_file() const { return folder_ / "certificate.pem"; }
  std::string key_file() const { return folder_ / "key.pem"; }

 private:
  struct Free {
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
    void operator()(X509* certificate) const { X509_free(certificate); }
  };
  static std::filesystem::path make_folder() {
    std::string name = std::filesystem::temp_directory_path() / "spectr-tls-XXXXXX";
    return ::mkdtemp(name.data());
  }

  std::filesystem::path folder_ = make_folder();
};

}  // namespace spectr::http
